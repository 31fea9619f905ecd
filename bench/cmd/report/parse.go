package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"magicode/bench/stats"
)

// report is what -out writes.
type report struct {
	stats.Run
	Results []stats.Value      `json:"results"`
	Compare []stats.Comparison `json:"compare"`
	Pass    bool               `json:"pass"`
}

var processors = regexp.MustCompile(`-\d+$`)

// parse reads benchmark text: lines of a name, a count, and pairs of a value and
// a unit. Other lines are config lines or talk.
func parse(text []byte) report {
	r := report{Run: stats.NewRun(0), Compare: []stats.Comparison{}, Pass: true}
	type key struct{ name, unit string }
	values := map[key][]float64{}
	var order []key
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) == 2 && f[0] == "commit:" {
			r.Commit = f[1]
		}
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(f[0], "")
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				break
			}
			k := key{name, f[i+1]}
			if values[k] == nil {
				order = append(order, k)
			}
			values[k] = append(values[k], v)
		}
	}
	for _, k := range order {
		v := stats.Of(values[k])
		v.Name, v.Unit = k.name, k.unit
		r.Results = append(r.Results, v)
		r.Rounds = max(r.Rounds, len(v.Values))
	}
	return r
}
