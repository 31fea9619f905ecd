package main

import (
	"io"

	"magicode/bench/plot"
	"magicode/bench/stats"
)

// draw draws how many times as good ours is, or the values themselves where
// there is no other.
func (r report) draw(w io.Writer) error {
	title, axis, rows := r.plot()
	return plot.Write(w, title, axis, rows)
}

func (r report) plot() (title, axis string, rows []plot.Row) {
	for _, x := range r.Results {
		if x.Other == nil {
			rows = append(rows, plot.Row{Label: x.Name, Median: x.Ours.Median, CI: x.Ours.CI, Text: stats.Number(x.Ours.Median) + " " + x.Unit, Mark: x.Most, Bad: missed(x)})
			continue
		}
		rows = append(rows, plot.Row{Label: x.Name, Median: x.Better.Median, CI: x.Better.CI, Mark: x.Target, Bad: missed(x),
			Text: stats.Number(x.Better.Median) + " times: " + stats.Number(x.Ours.Median) + ", " + stats.Number(x.Other.Median) + " " + x.Unit})
	}
	if len(r.Results) > 0 && r.Results[0].Other != nil {
		return "Whole children, ours against another", "times as good, median of the rounds' ratios with its 95 % interval; green: what is wanted", rows
	}
	return "Whole children", "each in its own unit, median with its 95 % interval; green: what it may take", rows
}

func missed(x result) bool { return x.Pass != nil && !*x.Pass }
