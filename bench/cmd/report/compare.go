package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"

	"magicode/bench/stats"
)

// gate bounds figures of one unit: the change from A to B of those whose name it
// matches, in percent or in the unit itself, or what they may be at most.
type gate struct {
	Match  string   `json:"match"` // a regular expression for the benchmark's name
	Unit   string   `json:"unit"`
	A      string   `json:"a"`
	B      string   `json:"b"`
	Budget float64  `json:"budget_pct"` // as in stats.Comparison
	Room   float64  `json:"budget_abs"` // as in stats.Comparison
	Most   *float64 `json:"most"`
	Over   string   `json:"over"` // Most counts from the median of this benchmark, as an empty loop; "": from 0
	name   *regexp.Regexp
}

// gates are those of the file, or those of some units.
type gates []gate

func readGates(file string, units []string) (gates, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all gates
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(units) > 0 {
		all = slices.DeleteFunc(all, func(g gate) bool { return !slices.Contains(units, g.Unit) })
	}
	for i := range all {
		if all[i].name, err = regexp.Compile(all[i].Match); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// budgeted is c with the budget of the last gate that says something of such a
// comparison.
func (all gates) budgeted(c stats.Comparison) stats.Comparison {
	for _, g := range all {
		if g.Most == nil && g.Unit == c.Unit && g.A == c.A && g.B == c.B && g.name.MatchString(c.Name) {
			c.Budget, c.Room = g.Budget, g.Room
		}
	}
	return c
}

var sink = regexp.MustCompile(`/telemetry=(\w+)`)

// What figures are held against.
const (
	off   = "telemetry=off"
	older = "old"
)

// compareSinks holds each way to have telemetry on against off. The rounds were
// taken in turns, so they are pairs.
func (r *report) compareSinks(all gates) {
	without := map[string]stats.Value{}
	for _, v := range r.Results {
		if m := sink.FindStringSubmatch(v.Name); m != nil && m[1] == "off" {
			without[sink.ReplaceAllString(v.Name, "")+" "+v.Unit] = v
		}
	}
	for _, v := range r.Results {
		m := sink.FindStringSubmatch(v.Name)
		if m == nil || m[1] == "off" {
			continue
		}
		c := stats.Comparison{Name: sink.ReplaceAllString(v.Name, ""), A: off, B: "telemetry=" + m[1], Unit: v.Unit}
		if before, ok := without[c.Name+" "+v.Unit]; ok {
			r.take(all.budgeted(c).Pairs(before.Values, v.Values))
		}
	}
}

// compareReports holds this report against an older one.
func (r *report) compareReports(old report, all gates) {
	before := map[string]stats.Value{}
	for _, v := range old.Results {
		before[v.Name+" "+v.Unit] = v
	}
	for _, v := range r.Results {
		if b, ok := before[v.Name+" "+v.Unit]; ok {
			c := stats.Comparison{Name: v.Name, A: older, B: "new", Unit: v.Unit}
			r.take(all.budgeted(c).Samples(b.Values, v.Values))
		}
	}
}

// bound holds figures against what they may be at most. There is no chance in
// allocations, which are counted; a time is above its bound where all of its
// interval is.
func (r *report) bound(all gates) {
	for _, g := range all {
		for _, v := range r.Results {
			if g.Most == nil || g.Unit != v.Unit || !g.name.MatchString(v.Name) {
				continue
			}
			most := *g.Most + r.floor(g)
			least := v.CI[0]
			if counted(v.Unit) {
				least = v.Median
			}
			c := stats.Comparison{Name: v.Name, A: stats.AtMost + stats.Number(most), B: stats.Number(v.Median), Unit: v.Unit, Pass: least <= most}
			if most > 0 {
				c.Delta = 100 * (v.Median/most - 1)
			}
			r.take(c)
		}
	}
}

// floor is what a bound counts from.
func (r *report) floor(g gate) float64 {
	for _, v := range r.Results {
		if v.Name == g.Over && v.Unit == g.Unit {
			return v.Median
		}
	}
	return 0
}

// counted are units that do not depend on the machine or its load.
func counted(unit string) bool { return unit == "allocs/op" || unit == "B/op" }

func (r *report) take(c stats.Comparison) {
	r.Compare = append(r.Compare, c)
	r.Pass = r.Pass && c.Pass
}
