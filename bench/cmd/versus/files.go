package main

import (
	"encoding/json"
	"errors"
	"os"

	"magicode/bench/plot"
)

// save writes the values; nowhere without a name.
func (r report) save(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	return errors.Join(err, os.WriteFile(file, append(b, '\n'), 0o644))
}

// draw draws how many times as good ours is, or the values themselves where
// there is no other.
func (r report) draw(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	title, axis, rows := r.plot()
	return errors.Join(plot.Write(f, title, axis, rows), f.Close())
}

func (r report) plot() (title, axis string, rows []plot.Row) {
	for _, x := range r.Results {
		if x.Other == nil {
			rows = append(rows, plot.Row{Label: x.Name, Median: x.Ours.Median, CI: x.Ours.CI, Text: number(x.Ours.Median) + " " + x.Unit, Mark: x.Most, Bad: missed(x)})
			continue
		}
		rows = append(rows, plot.Row{Label: x.Name, Median: x.Better.Median, CI: x.Better.CI, Mark: x.Target, Bad: missed(x),
			Text: number(x.Better.Median) + " times: " + number(x.Ours.Median) + ", " + number(x.Other.Median) + " " + x.Unit})
	}
	if len(r.Results) > 0 && r.Results[0].Other != nil {
		return "Whole children, ours against another", "times as good, median of the rounds' ratios with its 95 % interval; green: what is wanted", rows
	}
	return "Whole children", "each in its own unit, median with its 95 % interval; green: what it may take", rows
}

func missed(x result) bool { return x.Pass != nil && !*x.Pass }
