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
// budget and significant (Mann-Whitney, 0.05), or where a count is above what it
// may be at most. Status 3: a gate is broken.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"magicode/bench/stats"
)

// options are the flags.
type options struct {
	in, text, out, svg, against, gates string
	units, bench, benchtime            string
	rounds                             int
	short                              bool
	packages                           []string
}

func main() {
	var o options
	flag.StringVar(&o.in, "in", "", "read this benchmark text instead of running anything")
	flag.StringVar(&o.text, "text", "", "write the benchmark text to this file")
	flag.StringVar(&o.out, "out", "", "write JSON to this file")
	flag.StringVar(&o.svg, "svg", "", "draw into this file")
	flag.StringVar(&o.against, "against", "", "compare with this older JSON or benchmark text")
	flag.StringVar(&o.gates, "gates", "bench/gates.json", "the budgets of comparisons")
	flag.StringVar(&o.units, "units", "", "comma-separated: gates of these units only")
	flag.BoolVar(&o.short, "short", false, "leave out what is large, as for go test")
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
	all, err := readGates(o.gates, strings.FieldsFunc(o.units, func(r rune) bool { return r == ',' }))
	if err != nil {
		return false, err
	}
	rep.bound(all)
	rep.compareSinks(all)
	if o.against != "" {
		old, err := readReport(o.against)
		if err != nil {
			return false, err
		}
		rep.compareReports(old, all)
	}
	return rep.Pass, errors.Join(rep.print(os.Stdout), write(o.text, text, o.in == ""), stats.Save(o.out, rep), stats.Create(o.svg, rep.draw))
}

func write(file string, b []byte, wanted bool) error {
	if file == "" || !wanted {
		return nil
	}
	return os.WriteFile(file, b, 0o644)
}

// readReport reads what -out or -text wrote.
func readReport(file string) (r report, err error) {
	b, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(b, []byte("{")) {
		return parse(b), err
	}
	return r, json.Unmarshal(b, &r)
}
