package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"magicode/bench/stats"
)

// comparison says by how many percent B is worse than A.
type comparison struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	A      string  `json:"a"`
	B      string  `json:"b"`
	Delta  float64 `json:"delta_pct"` // worse is above zero
	P      float64 `json:"p"`
	Budget float64 `json:"budget_pct,omitempty"` // 0: none
	Pass   bool    `json:"pass"`
}

// gate is a budget: of every comparison whose name, unit and sides it matches.
type gate struct {
	Match  string  `json:"match"` // a regular expression for the benchmark's name
	Unit   string  `json:"unit"`
	A      string  `json:"a"`
	B      string  `json:"b"`
	Budget float64 `json:"budget_pct"`
	name   *regexp.Regexp
}

func readGates(file string) (gates []gate, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &gates); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range gates {
		if gates[i].name, err = regexp.Compile(gates[i].Match); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return gates, nil
}

const significant = 0.05

// higher are the units of which more is better.
func higher(unit string) bool { return strings.HasSuffix(unit, "/s") }

func compare(name, a, b string, before, after stats.Value, gates []gate) comparison {
	c := comparison{Name: name, Unit: after.Unit, A: a, B: b, P: stats.MannWhitney(before.Values, after.Values), Pass: true}
	if before.Median > 0 {
		c.Delta = 100 * (after.Median/before.Median - 1)
		if higher(c.Unit) {
			c.Delta = -c.Delta
		}
	}
	for _, g := range gates {
		if g.Unit == c.Unit && g.A == a && g.B == b && g.name.MatchString(name) {
			c.Budget = g.Budget
			c.Pass = c.Delta <= g.Budget || c.P >= significant
		}
	}
	return c
}

var sink = regexp.MustCompile(`/telemetry=(\w+)`)

const off = "telemetry=off"

// compareSinks holds each way to have telemetry on against off.
func (r *report) compareSinks(gates []gate) {
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
		name := sink.ReplaceAllString(v.Name, "")
		if before, ok := without[name+" "+v.Unit]; ok {
			r.take(compare(name, off, "telemetry="+m[1], before, v, gates))
		}
	}
}

// compareReports holds this report against an older one.
func (r *report) compareReports(old report, gates []gate) {
	before := map[string]stats.Value{}
	for _, v := range old.Results {
		before[v.Name+" "+v.Unit] = v
	}
	for _, v := range r.Results {
		if b, ok := before[v.Name+" "+v.Unit]; ok {
			r.take(compare(v.Name, "old", "new", b, v, gates))
		}
	}
}

func (r *report) take(c comparison) {
	r.Compare = append(r.Compare, c)
	r.Pass = r.Pass && c.Pass
}
