// Command versus holds two programs that speak the protocol against each other
// over pipes, in one run and in turns, so that a ratio holds on a machine that
// does something else as well:
//
//	go run ./bench/cmd/versus -ours bin/magi-code -other PATH -rounds 7 -json out.json
//
// Each round measures every figure once with each program (memory in the first
// two only), and the next round begins with the other one. What is reported is the median, with the interval
// that holds it with 95 % certainty, and the median of the rounds' ratios.
// Without -other only ours runs: a workload for a profile. docs/performance.md
// explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"magicode/bench/host"
	"magicode/bench/stats"
)

// relayArg is the only argument of the process that relayFloor starts.
const relayArg = "relay"

func main() {
	if len(os.Args) == 2 && os.Args[1] == relayArg {
		relay()
		return
	}
	ours := flag.String("ours", "bin/magi-code", "this program")
	other := flag.String("other", "", "the program to hold it against")
	rounds := flag.Int("rounds", 5, "how often each figure is taken")
	only := flag.String("only", "", "comma-separated cases: "+strings.Join(caseNames(), ", "))
	out := flag.String("json", "", "write the values to this file")
	svg := flag.String("svg", "", "draw them into this file")
	flag.Parse()
	os.Exit(host.Main("versus", func(ctx context.Context) (int, error) {
		return 0, run(ctx, *ours, *other, max(*rounds, 1), *only, *out, *svg)
	}))
}

func run(ctx context.Context, ours, other string, rounds int, only, out, svg string) error {
	var programs []string
	for _, p := range []string{ours, other} {
		if p == "" {
			continue
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		programs = append(programs, abs)
	}
	picked, err := pick(only)
	if err != nil {
		return err
	}
	t := newTable(len(programs), rounds)
	steps := 2 // the floors, at both ends
	for _, c := range picked {
		steps += c.times(rounds)
	}
	progress := host.Progress(steps)
	progress("floors")
	if err := t.floors(); err != nil {
		return err
	}
	for _, c := range picked {
		for r := range c.times(rounds) {
			progress("%s, round %d of %d", c.name, r+1, c.times(rounds))
			for i := range programs {
				at := (i + r) % len(programs)
				if err := t.take(ctx, at, programs[at], c); err != nil {
					return fmt.Errorf("%s of %s: %w", c.name, programs[at], err)
				}
			}
		}
	}
	progress("floors")
	if err := t.floors(); err != nil {
		return err
	}
	rep := t.report()
	return errors.Join(rep.print(os.Stdout), stats.Save(out, rep), stats.Create(svg, rep.draw))
}
