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

// quantity is a way to look at a cost.
type quantity struct {
	unit    string
	of      func(cost) float64
	percent budget
	room    budget // in the unit
}

func (r *report) add(w work, all []variant, v values) {
	for _, m := range w.measures {
		for _, x := range all {
			value := stats.Of(v.column(x.name, m.of))
			value.Name, value.Unit = w.name+"/telemetry="+x.name, m.unit
			r.Results = append(r.Results, value)
		}
		for _, x := range all {
			if x.against == "" {
				continue
			}
			c := stats.Comparison{Name: w.name, A: x.against, B: x.name, Unit: m.unit, Budget: m.percent.of(x), Room: m.room.of(x)}.
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
