package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

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
func (t *table) take(at int, program string, c testCase) error {
	m, err := with(program, c)
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
	Version int           `json:"version"`
	Go      string        `json:"go"`
	OS      string        `json:"os"`
	Arch    string        `json:"arch"`
	CPUs    int           `json:"cpus"`
	Rounds  int           `json:"rounds"`
	Results []result      `json:"results"`
	Floors  []stats.Value `json:"floors"`
}

func (t *table) report() report {
	r := report{Version: 1, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: t.rounds, Floors: t.floor}
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

func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, %d processors, %d rounds\n", r.Go, r.OS, r.Arch, r.CPUs, r.Rounds)
	t := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tours\t95 %\tother\t95 %\ttimes as good\t95 %\ttarget\t")
	for _, x := range r.Results {
		fmt.Fprintf(t, "%s %s\t%s\t%s\t", x.Name, x.Unit, number(x.Ours.Median), span(x.Ours.CI))
		if x.Other != nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t", number(x.Other.Median), span(x.Other.CI), number(x.Better.Median), span(x.Better.CI))
		} else {
			fmt.Fprint(t, "\t\t\t\t")
		}
		fmt.Fprintf(t, "%s\t\n", verdict(x))
	}
	for _, f := range r.Floors {
		fmt.Fprintf(t, "floor: %s %s\t%s\t%s\t\t\t\t\t\t\n", f.Name, f.Unit, number(f.Median), span(f.CI))
	}
	_ = t.Flush()
}

func verdict(x result) string {
	var s string
	switch {
	case x.Target > 0:
		s = number(x.Target) + " times"
	case x.Most > 0:
		s = "at most " + number(x.Most)
	}
	if x.Pass != nil && !*x.Pass {
		s += ", missed"
	}
	return s
}

func span(ci [2]float64) string { return number(ci[0]) + "-" + number(ci[1]) }

func number(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
