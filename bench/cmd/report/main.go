// Command report runs the Go benchmarks in interleaved rounds and writes what
// they say as benchmark text (for benchstat), as JSON, as SVG, and as a table of
// the comparisons: telemetry off against each way to have it on, and an older
// report where one is given.
//
//	go run ./bench/cmd/report -rounds 5 -out bench/out/bench.json -text bench/out/bench.txt -svg bench/out/bench.svg ./bench/...
//	go run ./bench/cmd/report -in bench/out/bench.txt -against old.json
//
//	go run ./bench/cmd/report -base TREE -base-text base.txt -text head.txt ./bench/frames
//
// Each round runs every package once, so that a busy machine is so for all; with
// -base those of another working tree by turns with them. A gate of
// bench/gates.json is broken only where the difference is beyond its budget and
// significant (Mann-Whitney, 0.05), or where a figure is above what it may be at
// most. Status 3: a gate is broken; 130: it was interrupted, and -text has what
// there was by then.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"

	"magicode/bench/host"
	"magicode/bench/stats"
)

// options are the flags.
type options struct {
	in, text, out, svg, against, gates string
	base, baseText                     string
	units, bench, benchtime            string
	rounds, atOnce                     int
	short                              bool
	packages                           []string
}

func main() {
	var o options
	flag.StringVar(&o.in, "in", "", "read this benchmark text instead of running anything")
	flag.StringVar(&o.text, "text", "", "write the benchmark text to this file")
	flag.StringVar(&o.base, "base", "", "run those of this other working tree too, by turns")
	flag.StringVar(&o.baseText, "base-text", "", "write the other tree's benchmark text to this file")
	flag.StringVar(&o.out, "out", "", "write JSON to this file")
	flag.StringVar(&o.svg, "svg", "", "draw into this file")
	flag.StringVar(&o.against, "against", "", "compare with this older JSON or benchmark text")
	flag.StringVar(&o.gates, "gates", "bench/gates.json", "the budgets of comparisons; empty: none")
	flag.StringVar(&o.units, "units", "", "comma-separated: gates of these units only")
	flag.BoolVar(&o.short, "short", false, "leave out what is large, as for go test")
	flag.StringVar(&o.bench, "bench", ".", "which benchmarks, as for go test")
	flag.StringVar(&o.benchtime, "benchtime", "300ms", "how long each, as for go test")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each is run")
	flag.IntVar(&o.atOnce, "at-once", 1, "how many packages are run at a time: where times do not matter")
	flag.Parse()
	o.packages, o.rounds, o.atOnce = flag.Args(), max(o.rounds, 1), max(o.atOnce, 1)
	os.Exit(host.Main("report", func(ctx context.Context) (int, error) {
		pass, err := run(ctx, o)
		if !pass {
			return broken, err
		}
		return 0, err
	}))
}

// broken is the status of a gate that is broken.
const broken = 3

func run(ctx context.Context, o options) (bool, error) {
	var text []byte
	var err error
	if o.in != "" {
		text, err = os.ReadFile(o.in)
	} else {
		text, err = benchmarks(ctx, o)
	}
	rep := parse(text)
	if ctx.Err() != nil || len(rep.Results) == 0 {
		return false, errors.Join(err, errors.New("no results"))
	}
	all, gerr := readGates(o.gates, strings.FieldsFunc(o.units, func(r rune) bool { return r == ',' }))
	if gerr != nil {
		return false, gerr
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
	rep.complain(os.Stderr)
	return rep.Pass, errors.Join(err, rep.print(os.Stdout), stats.Save(o.out, rep), stats.Create(o.svg, rep.draw))
}

// readReport reads what -out or -text wrote.
func readReport(file string) (r report, err error) {
	b, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(b, []byte("{")) {
		return parse(b), err
	}
	return r, json.Unmarshal(b, &r)
}
