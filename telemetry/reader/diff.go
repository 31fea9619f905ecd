package reader

import (
	"io"
	"slices"
	"strings"
)

// Diff holds two captures against each other.
type Diff struct {
	Version int       `json:"version"`
	A       Source    `json:"a"`
	B       Source    `json:"b"`
	Cleanup [2][]Step `json:"cleanup"` // of A and of B
	Phases  []Change  `json:"phases"`
	Over    *float64  `json:"over_pct"` // what B may be slower by; nil: not asked
	Slower  []string  `json:"slower"`   // the phases that are, by more
}

// Change is one phase in both. A side that does not have it is nil.
type Change struct {
	Name    string   `json:"name"`
	A       *Phase   `json:"a"`
	B       *Phase   `json:"b"`
	Percent *float64 `json:"percent"` // of the median, where both have it and A's is above 0
	Slower  bool     `json:"slower"`
}

// leastSlower is the difference below which a phase counts as the same however
// short it is: clocks and schedulers make as much of it.
const leastSlower = 5.0 // ms

// Compare holds B against A. Over, if not nil, is the part in percent by which
// the median of a phase of B may be longer.
func Compare(a, b *Analysis, over *float64) *Diff {
	d := &Diff{Version: 1, A: a.Capture, B: b.Capture, Cleanup: [2][]Step{a.Cleanup, b.Cleanup}, Over: over, Slower: []string{}}
	at := map[string]int{}
	for i := range a.Phases {
		at[a.Phases[i].Name] = len(d.Phases)
		d.Phases = append(d.Phases, Change{Name: a.Phases[i].Name, A: &a.Phases[i]})
	}
	for i := range b.Phases {
		p := &b.Phases[i]
		k, ok := at[p.Name]
		if !ok {
			k = len(d.Phases)
			d.Phases = append(d.Phases, Change{Name: p.Name})
		}
		d.Phases[k].B = p
	}
	slices.SortStableFunc(d.Phases, func(x, y Change) int { return strings.Compare(x.Name, y.Name) })
	for i := range d.Phases {
		if c := &d.Phases[i]; c.judge(over) {
			d.Slower = append(d.Slower, c.Name)
		}
	}
	return d
}

// judge computes the change and reports whether it is too much. The life of the
// child and its turns depend on what it was asked: they are shown, not judged.
func (c *Change) judge(over *float64) bool {
	if c.A == nil || c.B == nil {
		return false
	}
	if c.A.Median > 0 {
		percent := (c.B.Median/c.A.Median - 1) * 100
		c.Percent = &percent
	}
	if over == nil || c.Name == "magi.child" || c.B.Median-c.A.Median < leastSlower {
		return false
	}
	c.Slower = c.B.Median > c.A.Median*(1+*over/100)
	return c.Slower
}

// PrintDiff writes a comparison for a person: the two waterfalls on one scale,
// then the medians.
func PrintDiff(w io.Writer, d *Diff, look Look) {
	p := newPrinter(w, look)
	p.f("A  %s   %s\nB  %s   %s\n", d.A.Name, d.A.Program, d.B.Name, d.B.Program)
	p.waterfalls(d)
	p.f("\n%-32s %5s %10s   %5s %10s   %8s\n", "median of a phase", "A", "ms", "B", "ms", "change")
	for i := range d.Phases {
		c := &d.Phases[i]
		p.f("%-32s ", c.Name)
		for _, side := range []*Phase{c.A, c.B} {
			if side == nil {
				p.f("%5s %10s   ", "–", "–")
				continue
			}
			sign := ""
			if side.Open > 0 {
				sign = "≥ "
			}
			p.f("%4d× %s%*.2f   ", side.Count, sign, 10-len([]rune(sign)), side.Median)
		}
		switch {
		case c.Percent == nil:
			p.f("%8s", "–")
		default:
			p.f("%+7.0f%%", *c.Percent)
		}
		if c.Slower {
			p.f("  slower")
		}
		p.f("\n")
	}
	switch {
	case d.Over == nil:
	case len(d.Slower) == 0:
		p.f("\nno phase of B is slower by more than %g %%\n", *d.Over)
	default:
		p.f("\nB is slower by more than %g %%: %s\n", *d.Over, strings.Join(d.Slower, ", "))
	}
}

// waterfalls prints both cleanups on one scale, each step of A above that of B.
func (p *printer) waterfalls(d *Diff) {
	if len(d.Cleanup[0])+len(d.Cleanup[1]) == 0 {
		return
	}
	p.f("\ncleanup   wait budget 2000 ms\n")
	end := max(scale(d.Cleanup[0]), scale(d.Cleanup[1]))
	order, first := titles(d.Cleanup)
	for _, title := range order {
		for side, name := range []string{"A", "B"} {
			shown := title
			if shown == "" {
				shown = "all"
			}
			if side == 1 {
				shown = ""
			}
			s := first[side][title]
			if s == nil {
				p.f("  %-26s %s        –\n", shown, name)
				continue
			}
			p.f("  %-*s %s %s  %s\n", titleWidth, shown, name, took(s.Took, s.Open), bar(s.From, s.Took, end, p.bars-2, s.mark()))
		}
	}
	p.bars -= 2
	p.axis(2+titleWidth+3+tookWidth+2, end)
	p.bars += 2
}

// titles are the steps of both, in the order of A, then what only B has, and the
// first step of each side that has the title.
func titles(cleanup [2][]Step) (order []string, first [2]map[string]*Step) {
	known := map[string]bool{}
	for side, steps := range cleanup {
		first[side] = map[string]*Step{}
		for i := range steps {
			t := steps[i].title()
			if !known[t] {
				known[t] = true
				order = append(order, t)
			}
			if first[side][t] == nil {
				first[side][t] = &steps[i]
			}
		}
	}
	return order, first
}
