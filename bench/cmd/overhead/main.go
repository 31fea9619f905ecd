// Command overhead measures what telemetry costs a child, off and on, against
// builds and settings that differ in nothing else:
//
//	go build -tags no_telemetry -o bin/no_telemetry ./cmd/magi-code
//	go run ./bench/cmd/overhead -program bin/magi-code -baseline bin/no_telemetry -rounds 20
//
// A round starts one child of each variant and has them do the same work by
// turns, there and back (none, off, file, file, off, none), so that a machine
// that is busy or slow for a while is so for all of them. What counts is the
// median of the rounds' ratios, with the interval that holds it. A budget is
// broken only where the ratio is beyond it and the values differ significantly
// (Mann-Whitney, 0.05). Processor time is the child's own and steadier than time
// that passes. docs/performance.md explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"

	"magicode/bench/host"
	"magicode/bench/stats"
)

func main() {
	program := flag.String("program", "bin/magi-code", "the program")
	baseline := flag.String("baseline", "", "the same, built with -tags no_telemetry; without it, off has nothing to be held against")
	rounds := flag.Int("rounds", 20, "how often each pair is taken")
	only := flag.String("only", "", "one work only: frames, deltas, tools, pages or child")
	out := flag.String("json", "", "write the values to this file")
	gate := flag.Bool("gate", false, "status 3 where a budget is broken")
	flag.Parse()
	os.Exit(host.Main("overhead", func(ctx context.Context) (int, error) {
		ok, err := run(ctx, *program, *baseline, max(*rounds, 1), *only, *out)
		if !ok && *gate {
			return broken, err
		}
		return 0, err
	}))
}

// broken is the status of a budget that was not kept, as of bench/cmd/report.
const broken = 3

// variant is one of the things compared.
type variant struct {
	name, program string
	env           []string
	against       string // the variant that it is held against; "": none
}

// budget is how much worse telemetry may be than none where it is off, and than
// off where it writes a capture: in percent, or in the unit itself. 0: no limit.
type budget struct{ off, file float64 }

func (b budget) of(v variant) float64 {
	if v.against == "none" {
		return b.off
	}
	return b.file
}

func variants(program, baseline string) []variant {
	off := variant{name: "off", program: program}
	file := variant{name: "file", program: program, env: []string{"MC_TELEMETRY=file"}, against: "off"}
	if baseline == "" {
		return []variant{off, file}
	}
	off.against = "none"
	return []variant{{name: "none", program: baseline}, off, file}
}

func run(ctx context.Context, program, baseline string, rounds int, only, out string) (bool, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return false, err
	}
	if baseline != "" {
		if baseline, err = filepath.Abs(baseline); err != nil {
			return false, err
		}
	}
	rep, err := measure(ctx, variants(program, baseline), rounds, only)
	if err != nil {
		return false, err
	}
	return rep.Pass, errors.Join(rep.print(os.Stdout), stats.Save(out, rep))
}
