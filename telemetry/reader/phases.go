package reader

import (
	"cmp"
	"slices"
	"strings"
)

// Phase is how long the spans of one name took, in milliseconds. One that was
// cut off counts with the time it had.
type Phase struct {
	Name   string  `json:"name"`
	Count  int     `json:"count"`
	Median float64 `json:"median_ms"`
	P95    float64 `json:"p95_ms"`
	Max    float64 `json:"max_ms"`
	Open   int     `json:"open"` // of them, how many never ended
}

// phaseName groups spans: generations of all models are one phase.
func phaseName(name string) string {
	if strings.HasPrefix(name, "chat ") {
		return "chat"
	}
	return name
}

func phases(c *Capture, open []Unfinished) []Phase {
	took := map[string][]float64{}
	for i := range c.Spans {
		if s := &c.Spans[i]; !s.unended() && s.Name != "magi.cleanup.snapshot" {
			took[phaseName(s.Name)] = append(took[phaseName(s.Name)], millis(s.End.Sub(s.Start)))
		}
	}
	unended := map[string]int{}
	for _, u := range open {
		name := phaseName(u.Name)
		took[name] = append(took[name], u.Age)
		unended[name]++
	}
	out := make([]Phase, 0, len(took))
	for name, v := range took {
		slices.Sort(v)
		out = append(out, Phase{Name: name, Count: len(v), Median: median(v), P95: percentile95(v), Max: v[len(v)-1], Open: unended[name]})
	}
	slices.SortFunc(out, func(x, y Phase) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// median of sorted values.
func median(v []float64) float64 {
	switch n := len(v); {
	case n == 0:
		return 0
	case n%2 == 0:
		return (v[n/2-1] + v[n/2]) / 2
	default:
		return v[n/2]
	}
}

// percentile95 sorts v.
func percentile95(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(len(v)*95/100, len(v)-1)]
}

// slowest are the phases with the longest single spans. Those that only hold others
// are no news: the child, its runs, its requests, its start and its end.
func (a *Analysis) slowest(n int) []Phase {
	holds := map[string]bool{"magi.child": true, runSpan: true, "magi.startup": true, cleanupSpan: true}
	for i := range a.Requests {
		holds[a.Requests[i].Method] = true
	}
	out := slices.DeleteFunc(slices.Clone(a.Phases), func(p Phase) bool { return holds[p.Name] })
	slices.SortStableFunc(out, func(x, y Phase) int { return cmp.Compare(y.Max, x.Max) })
	return out[:min(n, len(out))]
}
