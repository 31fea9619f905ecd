// Command report runs the Go benchmarks in interleaved rounds and writes what
// they say as benchmark text (for benchstat), as JSON, as SVG, and as a table of
// the comparisons: telemetry off against each way to have it on, and an older
// report where one is given.
//
//	go run ./bench/cmd/report -rounds 5 -out bench/out/bench.json -text bench/out/bench.txt -svg bench/out/bench.svg ./bench/...
//	go run ./bench/cmd/report -in bench/out/bench.txt -against old.json
//
// Each round runs every package once, so that a busy machine is so for all. A
// gate of bench/gates.json is broken only where the difference is beyond its
// budget and significant (Mann-Whitney, 0.05).
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are the flags.
type options struct {
	in, text, out, svg, against, gates string
	bench, benchtime                   string
	rounds                             int
	packages                           []string
}

func main() {
	var o options
	flag.StringVar(&o.in, "in", "", "read this benchmark text instead of running anything")
	flag.StringVar(&o.text, "text", "", "write the benchmark text to this file")
	flag.StringVar(&o.out, "out", "", "write JSON to this file")
	flag.StringVar(&o.svg, "svg", "", "draw into this file")
	flag.StringVar(&o.against, "against", "", "compare with this older JSON")
	flag.StringVar(&o.gates, "gates", "bench/gates.json", "the budgets of comparisons")
	flag.StringVar(&o.bench, "bench", ".", "which benchmarks, as for go test")
	flag.StringVar(&o.benchtime, "benchtime", "300ms", "how long each, as for go test")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each is run")
	flag.Parse()
	o.packages = flag.Args()
	pass, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
	if !pass {
		os.Exit(3)
	}
}

func run(o options) (bool, error) {
	var text []byte
	var err error
	if o.in != "" {
		text, err = os.ReadFile(o.in)
	} else {
		text, err = benchmarks(o)
	}
	if err != nil {
		return false, err
	}
	rep := parse(text)
	if len(rep.Results) == 0 {
		return false, errors.New("no results")
	}
	gates, err := readGates(o.gates)
	if err != nil {
		return false, err
	}
	rep.compareSinks(gates)
	if o.against != "" {
		old, err := readReport(o.against)
		if err != nil {
			return false, err
		}
		rep.compareReports(old, gates)
	}
	rep.print(os.Stdout)
	return rep.Pass, errors.Join(write(o.text, text, o.in == ""), rep.save(o.out), rep.draw(o.svg))
}

func write(file string, b []byte, wanted bool) error {
	if file == "" || !wanted {
		return nil
	}
	return os.WriteFile(file, b, 0o644)
}

func readReport(file string) (r report, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}
