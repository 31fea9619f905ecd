package main

import (
	"context"
	"fmt"
	"io"

	"magicode/bench/stats"
)

// table collects the values of the rounds.
type table struct {
	programs, rounds int
	order            []figure
	values           map[string][][]float64 // figure -> program -> rounds
	floor            []stats.Value
}

func newTable(programs, rounds int) *table {
	return &table{programs: programs, rounds: rounds, values: map[string][][]float64{}}
}

// take measures a case once.
func (t *table) take(ctx context.Context, at int, program string, c testCase) error {
	m, err := with(ctx, program, c)
	if err != nil {
		return err
	}
	for _, f := range c.figures {
		if t.values[f.name] == nil {
			t.order = append(t.order, f)
			t.values[f.name] = make([][]float64, t.programs)
		}
		t.values[f.name][at] = append(t.values[f.name][at], m[f.name])
	}
	return nil
}

type result struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Ours   stats.Value  `json:"ours"`
	Other  *stats.Value `json:"other,omitempty"`
	Better *stats.Value `json:"better,omitempty"` // how many times as good ours is
	Target float64      `json:"target,omitempty"`
	Most   float64      `json:"most,omitempty"`
	Pass   *bool        `json:"pass,omitempty"`
}

type report struct {
	stats.Run
	Results []result      `json:"results"`
	Floors  []stats.Value `json:"floors"`
}

func (t *table) report() report {
	r := report{Run: stats.NewRun(t.rounds), Floors: t.floor}
	for _, f := range t.order {
		r.Results = append(r.Results, t.result(f))
	}
	return r
}

func (t *table) result(f figure) result {
	v := t.values[f.name]
	out := result{Name: f.name, Unit: f.unit, Ours: stats.Of(v[0]), Target: f.target, Most: f.most}
	pass, judged := true, false
	if t.programs > 1 {
		other := stats.Of(v[1])
		better := stats.Of(times(v[0], v[1], f.higher))
		out.Other, out.Better = &other, &better
		if f.target > 0 {
			judged, pass = true, better.Median >= f.target
		}
	}
	if f.most > 0 {
		judged, pass = true, pass && out.Ours.Median <= f.most
	}
	if judged {
		out.Pass = &pass
	}
	return out
}

// times is how many times as good ours is, of each round.
func times(ours, other []float64, higher bool) []float64 {
	if higher {
		return stats.Ratios(other, ours)
	}
	return stats.Ratios(ours, other)
}

func (r report) print(w io.Writer) error {
	rows := [][]string{{"figure", "ours", "95 %", "other", "95 %", "times as good", "95 %", "target"}}
	for _, x := range r.Results {
		row := append([]string{x.Name + " " + x.Unit}, cells(&x.Ours)...)
		row = append(append(row, cells(x.Other)...), cells(x.Better)...)
		rows = append(rows, append(row, verdict(x)))
	}
	for _, f := range r.Floors {
		rows = append(rows, append([]string{"floor: " + f.Name + " " + f.Unit}, cells(&f)...))
	}
	fmt.Fprintln(w, r.Run)
	return stats.Table(w, rows)
}

// cells are a median and its interval; empty of nothing.
func cells(v *stats.Value) []string {
	if v == nil {
		return []string{"", ""}
	}
	return []string{stats.Number(v.Median), stats.Span(v.CI)}
}

func verdict(x result) string {
	var s string
	switch {
	case x.Target > 0 && x.Other != nil:
		s = stats.Number(x.Target) + " times"
	case x.Most > 0:
		s = "at most " + stats.Number(x.Most)
	}
	if x.Pass != nil && !*x.Pass {
		s += ", missed"
	}
	return s
}
