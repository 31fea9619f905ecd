package main

import (
	"errors"
	"fmt"
	"io"

	"magicode/bench/stats"
)

// report is what -json writes.
type report struct {
	stats.Run
	Results []stats.Value      `json:"results"`
	Compare []stats.Comparison `json:"compare"`
	Pass    bool               `json:"pass"`
}

// measures are the two ways to look at a cost.
var measures = []struct {
	name string
	of   func(cost) float64
}{
	{"cpu", func(c cost) float64 { return c.cpu }},
	{"wall", func(c cost) float64 { return c.wall }},
}

func (r *report) add(w work, all []variant, v values) {
	for _, m := range measures {
		unit := m.name + "-us/" + w.unit
		for _, x := range all {
			value := stats.Of(v.column(x.name, m.of))
			value.Name, value.Unit = w.name+"/telemetry="+x.name, unit
			r.Results = append(r.Results, value)
		}
		for _, x := range all {
			if x.against == "" {
				continue
			}
			c := stats.Comparison{Name: w.name, A: x.against, B: x.name, Unit: unit, Budget: x.budget(w)}.
				Pairs(v.column(x.against, m.of), v.column(x.name, m.of))
			r.Compare = append(r.Compare, c)
			r.Pass = r.Pass && c.Pass
		}
	}
}

func (r *report) print(w io.Writer) error {
	rows := [][]string{{"work", "unit", "median", "95 %"}}
	for _, x := range r.Results {
		rows = append(rows, []string{x.Name, x.Unit, stats.Number(x.Median), stats.Span(x.CI)})
	}
	fmt.Fprintln(w, r.Run)
	err := stats.Table(w, rows)
	fmt.Fprintln(w)
	return errors.Join(err, stats.Table(w, stats.Compared(r.Compare)))
}
