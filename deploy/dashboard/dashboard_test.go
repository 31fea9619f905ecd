package main

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry"
	"magicode/telemetry/point"
	"magicode/telemetry/promtext"
)

var update = flag.Bool("update", false, "write deploy/grafana/magi-code.json anew")

const file = "../grafana/magi-code.json"

// TestFileIsCurrent: go test ./deploy/dashboard -update writes it.
func TestFileIsCurrent(t *testing.T) {
	want, err := json.MarshalIndent(dashboard(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go test ./deploy/dashboard -update (-want +got):\n%s", diff)
	}
}

// series are the names under which a scrape has the metrics.
func series() map[string]string {
	out := map[string]string{"magi_up": "magi_up", "magi_build_info": "magi_build_info"}
	for _, m := range telemetry.Catalogue() {
		name := promtext.Name(&m)
		if m.Type != point.Histogram {
			out[name] = name
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			out[name+suffix] = name
		}
	}
	return out
}

var (
	grouping = regexp.MustCompile(`\bby \([^)]*\)|\{[^}]*\}`)
	metric   = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	function = []string{"histogram_quantile", "label_values"}
)

// queried are the names in an expression that are no labels and no functions.
func queried(expr string) (out []string) {
	for _, name := range metric.FindAllString(grouping.ReplaceAllString(expr, ""), -1) {
		if !slices.Contains(function, name) && !strings.HasPrefix(name, "__") && name != "rate_interval" {
			out = append(out, name)
		}
	}
	return out
}

func TestQueried(t *testing.T) {
	got := queried(`histogram_quantile(0.5, sum by (le, magi_a) (rate(magi_b_bucket{job=~"$job"}[$__rate_interval]))) / max(go_c)`)
	if diff := cmp.Diff([]string{"magi_b_bucket", "go_c"}, got); diff != "" {
		t.Error(diff)
	}
}

// expressions are the queries of a dashboard file.
func expressions(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if s, ok := x.(string); ok && k == "expr" {
				out = append(out, s)
			} else {
				out = append(out, expressions(x)...)
			}
		}
	case []any:
		for _, x := range v {
			out = append(out, expressions(x)...)
		}
	}
	return out
}

// TestDashboardAndCatalogue: it asks for nothing that is not there, and for
// everything that is.
func TestDashboardAndCatalogue(t *testing.T) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var board map[string]any
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	known, seen := series(), map[string]bool{}
	for _, expr := range expressions(board) {
		names := queried(expr)
		if len(names) == 0 {
			t.Errorf("asks for nothing: %s", expr)
		}
		for _, name := range names {
			if known[name] == "" {
				t.Errorf("no such metric as %s: %s", name, expr)
			}
			seen[known[name]] = true
		}
	}
	for _, m := range telemetry.Catalogue() {
		if name := promtext.Name(&m); !seen[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d metrics", len(seen))
	}
}

// TestLayout: ids are unique, and nothing lies on something else.
func TestLayout(t *testing.T) {
	ids := map[any]bool{}
	var look func(panels []any)
	look = func(panels []any) {
		taken := map[[2]int]any{}
		for _, p := range panels {
			p := p.(object)
			if ids[p["id"]] {
				t.Errorf("id %v twice", p["id"])
			}
			ids[p["id"]] = true
			at := p["gridPos"].(object)
			for x := range at["w"].(int) {
				for y := range at["h"].(int) {
					place := [2]int{at["x"].(int) + x, at["y"].(int) + y}
					if taken[place] != nil || place[0] >= fullWidth {
						t.Errorf("%v lies on %v or outside", p["title"], taken[place])
					}
					taken[place] = p["title"]
				}
			}
			if p["type"] == "row" {
				look(p["panels"].([]any))
			}
		}
	}
	look(dashboard()["panels"].([]any))
}

// TestTables: what the tables say of metrics is said of metrics that exist.
func TestTables(t *testing.T) {
	names := map[string]bool{}
	for _, m := range telemetry.Catalogue() {
		names[promtext.Name(&m)] = true
	}
	for name := range splits {
		if !names[name] {
			t.Errorf("splits: no metric %s", name)
		}
	}
	for name := range limits {
		if !names[name] {
			t.Errorf("limits: no metric %s", name)
		}
	}
}

// TestSample: the text file that is shown has metrics of the catalogue only.
func TestSample(t *testing.T) {
	b, err := os.ReadFile("../node-exporter/magi-code.prom")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range series() {
		names[name] = true
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(string(b), -1) {
		found++
		if !names[m[1]] {
			t.Errorf("the sample has %s", m[1])
		}
	}
	if found < 30 {
		t.Errorf("only %d metrics", found)
	}
}
