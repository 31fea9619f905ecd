package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"magicode/bench/stats"
)

// report is what -json writes.
type report struct {
	Version int           `json:"version"`
	Go      string        `json:"go"`
	OS      string        `json:"os"`
	Arch    string        `json:"arch"`
	CPUs    int           `json:"cpus"`
	Rounds  int           `json:"rounds"`
	Results []stats.Value `json:"results"`
	Compare []comparison  `json:"compare"`
	Pass    bool          `json:"pass"`
}

// comparison says by how many percent B is worse than A: more time for the same.
type comparison struct {
	Name   string     `json:"name"`
	Unit   string     `json:"unit"`
	A      string     `json:"a"`
	B      string     `json:"b"`
	Delta  float64    `json:"delta_pct"`
	CI     [2]float64 `json:"ci_pct"`
	P      float64    `json:"p"`
	Budget float64    `json:"budget_pct,omitempty"`
	Pass   bool       `json:"pass"`
}

func newReport(rounds int) report {
	return report{Version: 1, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: rounds, Pass: true}
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
			c := judge(x, w, v, m.of)
			c.Name, c.Unit = w.name, unit
			r.Compare = append(r.Compare, c)
			r.Pass = r.Pass && c.Pass
		}
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s/%s, %d processors, %d rounds\n", r.Go, r.OS, r.Arch, r.CPUs, r.Rounds)
	t := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(t, "work\tunit\tmedian\t95 %\t")
	for _, x := range r.Results {
		fmt.Fprintf(t, "%s\t%s\t%.3g\t%.3g-%.3g\t\n", x.Name, x.Unit, x.Median, x.CI[0], x.CI[1])
	}
	fmt.Fprintln(t, "\t\t\t\t")
	fmt.Fprintln(t, "work\tunit\tcompared\tworse by\t95 %\tp\tbudget\t")
	for _, c := range r.Compare {
		verdict := ""
		if c.Budget > 0 {
			verdict = fmt.Sprintf("%g %%", c.Budget)
		}
		if !c.Pass {
			verdict += ", broken"
		}
		fmt.Fprintf(t, "%s\t%s\t%s with %s\t%+.2f %%\t%+.2f to %+.2f\t%.3f\t%s\t\n", c.Name, c.Unit, c.B, c.A, c.Delta, c.CI[0], c.CI[1], c.P, verdict)
	}
	_ = t.Flush()
}
