package stats

import (
	"fmt"
	"strings"
)

// Significant is how probable a difference by chance may be at most to count.
const Significant = 0.05

// AtMost begins the A of a figure that is held against a number.
const AtMost = "at most "

// Comparison says by how many percent B differs from A.
type Comparison struct {
	Name   string      `json:"name"`
	A      string      `json:"a"`
	B      string      `json:"b"`
	Unit   string      `json:"unit"`
	Delta  float64     `json:"delta_pct"`
	CI     *[2]float64 `json:"ci_pct,omitempty"` // of the delta, where the rounds are pairs
	P      float64     `json:"p"`
	Budget float64     `json:"budget_pct,omitempty"` // above zero the most, below zero the least that Delta may be; 0: none
	Room   float64     `json:"budget_abs,omitempty"` // the most that the median of B may be above that of A, in Unit; 0: no such limit
	Pass   bool        `json:"pass"`
}

// Pairs fills in what two sides say that were measured in turns: the median of
// the rounds' ratios.
func (c Comparison) Pairs(a, b []float64) Comparison {
	delta := percents(a, b)
	ci := Interval(delta)
	c.CI = &ci
	return c.judge(Median(delta), a, b)
}

// Samples fills in what two sides say that were measured apart: the ratio of
// their medians.
func (c Comparison) Samples(a, b []float64) Comparison {
	delta := percents([]float64{Median(a)}, []float64{Median(b)})
	return c.judge(Median(delta), a, b)
}

// percents: what grew from nothing has no ratio, and counts as 100.
func percents(a, b []float64) (out []float64) {
	for _, r := range Ratios(a, b) {
		out = append(out, 100*(r-1))
	}
	switch {
	case len(out) > 0:
		return out
	case Median(b) > 0:
		return []float64{100}
	}
	return []float64{0}
}

// judge: a budget is broken by a difference that is beyond it and significant.
func (c Comparison) judge(delta float64, a, b []float64) Comparison {
	c.Delta, c.P = delta, MannWhitney(a, b)
	beyond := c.Budget > 0 && delta > c.Budget || c.Budget < 0 && delta < c.Budget ||
		c.Room > 0 && Median(b)-Median(a) > c.Room
	c.Pass = !beyond || c.P >= Significant
	return c
}

// budget says what is allowed, and whether it was kept.
func (c Comparison) budget() string {
	var parts []string
	if c.Budget != 0 {
		parts = append(parts, fmt.Sprintf("%+g %%", c.Budget))
	}
	if c.Room != 0 {
		parts = append(parts, "+"+Number(c.Room)+" "+c.Unit)
	}
	if !c.Pass {
		parts = append(parts, "broken")
	}
	return strings.Join(parts, ", ")
}

// Compared are the rows of a table of comparisons.
func Compared(all []Comparison) [][]string {
	rows := [][]string{{"figure", "unit", "compared", "change", "95 %", "p", "budget"}}
	for _, c := range all {
		ci := ""
		if c.CI != nil {
			ci = fmt.Sprintf("%+.1f to %+.1f", c.CI[0], c.CI[1])
		}
		between := " with "
		if strings.HasPrefix(c.A, AtMost) {
			between = ", "
		}
		rows = append(rows, []string{c.Name, c.Unit, c.B + between + c.A, fmt.Sprintf("%+.1f %%", c.Delta), ci, fmt.Sprintf("%.3f", c.P), c.budget()})
	}
	return rows
}
