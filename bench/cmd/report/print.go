package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"magicode/bench/plot"
	"magicode/bench/stats"
)

// print shows the comparisons that say something: those of sinks with a budget,
// those that differ, and gates that are broken. benchstat shows the figures.
func (r *report) print(w io.Writer) error {
	said := slices.DeleteFunc(slices.Clone(r.Compare), func(c stats.Comparison) bool {
		differs := c.P < stats.Significant && (c.A == off || c.A == older)
		return c.Pass && !differs && !(c.A == off && c.Budget != 0)
	})
	for i := range said {
		said[i].Name = strings.TrimPrefix(said[i].Name, "Benchmark")
	}
	fmt.Fprintf(w, "%s, %d figures\n", r.Run, len(r.Results))
	return stats.Table(w, stats.Compared(said))
}

// draw draws what each operation takes.
func (r *report) draw(w io.Writer) error {
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
	return plot.Write(w, title, "nanoseconds for an operation, median with its 95 % interval", rows)
}
