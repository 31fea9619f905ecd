package stats

import "fmt"

// Significant is how probable a difference by chance may be at most to count.
const Significant = 0.05

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

// percents leaves out what grew from nothing: it has no ratio.
func percents(a, b []float64) (out []float64) {
	for _, r := range Ratios(a, b) {
		out = append(out, 100*(r-1))
	}
	if len(out) == 0 {
		out = []float64{0}
	}
	return out
}

// judge: a budget is broken by a difference that is beyond it and significant.
func (c Comparison) judge(delta float64, a, b []float64) Comparison {
	c.Delta, c.P = delta, MannWhitney(a, b)
	beyond := c.Budget > 0 && delta > c.Budget || c.Budget < 0 && delta < c.Budget
	c.Pass = !beyond || c.P >= Significant
	return c
}

// Compared are the rows of a table of comparisons.
func Compared(all []Comparison) [][]string {
	rows := [][]string{{"figure", "unit", "compared", "change", "95 %", "p", "budget"}}
	for _, c := range all {
		var ci, budget string
		if c.CI != nil {
			ci = fmt.Sprintf("%+.1f to %+.1f", c.CI[0], c.CI[1])
		}
		if c.Budget != 0 {
			budget = fmt.Sprintf("%+g %%", c.Budget)
		}
		if !c.Pass {
			budget += ", broken"
		}
		rows = append(rows, []string{c.Name, c.Unit, c.B + " with " + c.A, fmt.Sprintf("%+.1f %%", c.Delta), ci, fmt.Sprintf("%.3f", c.P), budget})
	}
	return rows
}
