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
		return c.Pass && !differs && !(c.A == off && (c.Budget != 0 || c.Room != 0))
	})
	fmt.Fprintf(w, "%s, %d figures\n", r.Run, len(r.Results))
	if len(said) == 0 {
		fmt.Fprintln(w, "nothing differs and no gate is broken")
		return nil
	}
	return stats.Table(w, stats.Compared(short(said)))
}

// complain names the gates that are broken, for those who see no table.
func (r *report) complain(w io.Writer) {
	for _, row := range stats.Compared(r.broken())[1:] {
		fmt.Fprintln(w, "gate:", strings.Join(strings.Fields(strings.Join(row, " ")), " "))
	}
}

func (r *report) broken() []stats.Comparison {
	return short(slices.DeleteFunc(slices.Clone(r.Compare), func(c stats.Comparison) bool { return c.Pass }))
}

// short leaves out what all names begin with.
func short(all []stats.Comparison) []stats.Comparison {
	for i := range all {
		all[i].Name = strings.TrimPrefix(all[i].Name, "Benchmark")
	}
	return all
}

// draw draws what each operation takes; where there is an older report, how many
// times as long as there, so that a tenth more is seen as well.
func (r *report) draw(w io.Writer) error {
	title, axis := "Go benchmarks", "nanoseconds for an operation, median with its 95 % interval"
	if r.Commit != "" {
		title += " of " + r.Commit
	}
	var rows, ratios []plot.Row
	for _, v := range r.Results {
		if v.Unit != "ns/op" {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(v.Name, "Benchmark"), "/")
		row := plot.Row{Group: name, Label: rest, Median: v.Median, CI: v.CI, Text: duration(v.Median)}
		rows = append(rows, row)
		if c := r.before(v); c != nil {
			old := v.Median / (1 + c.Delta/100)
			row.Median, row.CI, row.Mark = v.Median/old, [2]float64{v.CI[0] / old, v.CI[1] / old}, 1
			row.Bad = c.P < stats.Significant && c.Delta > 0
			row.Text += fmt.Sprintf(", %+.1f %%", c.Delta)
			ratios = append(ratios, row)
		}
	}
	if len(ratios) > 0 {
		rows, axis = ratios, "times as long as before, median with its 95 % interval; green: as before; red: slower, significantly"
	}
	return plot.Write(w, title, axis, rows)
}

// before is the comparison of a figure with that of the older report.
func (r *report) before(v stats.Value) *stats.Comparison {
	for i, c := range r.Compare {
		if c.A == older && c.Name == v.Name && c.Unit == v.Unit {
			return &r.Compare[i]
		}
	}
	return nil
}

// duration is so many nanoseconds in the unit that they are read in.
func duration(ns float64) string {
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= u.ns {
			return stats.Number(ns/u.ns) + " " + u.name
		}
	}
	return stats.Number(ns) + " ns"
}
