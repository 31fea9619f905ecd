package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"magicode/bench/plot"
)

// print shows the comparisons that say something: those with a budget, and those
// that differ. benchstat shows the figures themselves.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, %d processors, %d rounds, %d figures\n", r.Go, r.OS, r.Arch, r.CPUs, r.Rounds, len(r.Results))
	t := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(t, "benchmark\tunit\tcompared\tworse by\tp\tbudget\t")
	for _, c := range r.Compare {
		if c.Budget == 0 && c.P >= significant {
			continue
		}
		budget := ""
		if c.Budget != 0 {
			budget = fmt.Sprintf("%g %%", c.Budget)
		}
		if !c.Pass {
			budget += ", broken"
		}
		fmt.Fprintf(t, "%s\t%s\t%s with %s\t%+.1f %%\t%.3f\t%s\t\n", strings.TrimPrefix(c.Name, "Benchmark"), c.Unit, c.B, c.A, c.Delta, c.P, budget)
	}
	_ = t.Flush()
}

// save writes the JSON; nowhere without a name.
func (r *report) save(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	return errors.Join(err, os.WriteFile(file, append(b, '\n'), 0o644))
}

// draw draws what each operation takes.
func (r *report) draw(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	var rows []plot.Row
	for _, v := range r.Results {
		if v.Unit != "ns/op" {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(v.Name, "Benchmark"), "/")
		rows = append(rows, plot.Row{Group: name, Label: rest, Median: v.Median, CI: v.CI, Text: fmt.Sprintf("%.4g ns", v.Median)})
	}
	title := "Go benchmarks"
	if r.Commit != "" {
		title += " of " + r.Commit
	}
	return errors.Join(plot.Write(f, title, "nanoseconds for an operation, median with its 95 % interval", rows), f.Close())
}
