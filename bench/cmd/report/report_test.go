package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"magicode/bench/stats"
)

const sample = `goos: linux
commit: abc1234
BenchmarkTurn/deltas=200/telemetry=off-2   100  1000 ns/op  900 events/s  5.0 cpu-ms/turn
BenchmarkTurn/deltas=200/telemetry=file-2  100  1100 ns/op  800 events/s  5.5 cpu-ms/turn
BenchmarkOther-16  1  7 ns/op  0 B/op  0 allocs/op
BenchmarkBroken-2  1  x ns/op
PASS
`

func TestParse(t *testing.T) {
	r := parse([]byte(strings.Repeat(sample, 3)))
	if r.Commit != "abc1234" || r.Rounds != 3 || len(r.Results) != 9 {
		t.Fatalf("%+v", r)
	}
	if v := r.Results[1]; v.Name != "BenchmarkTurn/deltas=200/telemetry=off" || v.Unit != "events/s" || v.Median != 900 || len(v.Values) != 3 {
		t.Errorf("%+v", v)
	}
}

// rounds is benchmark text in which file is so much slower than off.
func rounds(slower float64) []byte {
	var b strings.Builder
	for i := range 10 {
		v := 100 + 3*float64(i)
		fmt.Fprintf(&b, "BenchmarkTurn/telemetry=off-2 1 %v ns/op %v events/s\n", v, 1e6/v)
		fmt.Fprintf(&b, "BenchmarkTurn/telemetry=file-2 1 %v ns/op %v events/s\n", v*slower, 1e6/v/slower)
	}
	return []byte(b.String())
}

// TestGates: a budget is broken by what is beyond it and significant, in the
// direction that is worse.
func TestGates(t *testing.T) {
	name := regexp.MustCompile("Turn")
	for unit, budget := range map[string]float64{"events/s": -3, "ns/op": 3} {
		mine := gates{{Unit: unit, A: off, B: "telemetry=file", Budget: budget, name: name}, {Unit: unit, A: off, B: "telemetry=otlp", Budget: budget / 1e6, name: name}}
		for _, c := range []struct {
			slower float64
			pass   bool
		}{{1, true}, {1.02, true}, {1.04, true /* within the noise of the rounds */}, {1.5, false}, {0.5, true}} {
			r := parse(rounds(c.slower))
			r.compareSinks(mine)
			if r.Pass != c.pass || len(r.Compare) != 2 {
				t.Errorf("%s, %v times: %v %+v", unit, c.slower, r.Pass, r.Compare)
			}
		}
	}
}

// TestFileOfGates: they are read, those of some units alone, and a count above
// what it may be is told.
func TestFileOfGates(t *testing.T) {
	all, err := readGates("../../gates.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	few, err := readGates("../../gates.json", []string{"allocs/op"})
	if err != nil || len(few) == 0 || len(few) >= len(all) {
		t.Fatal(len(few), len(all), err)
	}
	for text, pass := range map[string]bool{
		"BenchmarkHook/hook=FrameIn/telemetry=off-2 9 5 ns/op 0 B/op 0 allocs/op\n": true,
		"BenchmarkHook/hook=FrameIn/telemetry=off-2 9 5 ns/op 0 B/op 1 allocs/op\n": false,
		"BenchmarkSpan/telemetry=file-2 9 5 ns/op 9 B/op 11 allocs/op\n":            true,
		"BenchmarkSpan/telemetry=file-2 9 5 ns/op 9 B/op 12 allocs/op\n":            false,
	} {
		r := parse([]byte(text))
		r.bound(few)
		if r.Pass != pass || len(r.Compare) != 1 {
			t.Errorf("%s: %+v", text, r.Compare)
		}
	}
	if none, err := readGates("", nil); len(none) > 0 || err != nil {
		t.Error(none, err)
	}
	r := parse([]byte("BenchmarkSpan/telemetry=file-2 9 5 ns/op 9999 B/op 1 allocs/op\n"))
	if r.bound(few); !r.Pass {
		t.Error("a gate of another unit counts")
	}
	if r.bound(all); r.Pass {
		t.Error("too many bytes are let through")
	}
}

// TestBoundsOfTime: a time is above its bound only where every round is, and may
// count from what an empty loop takes.
func TestBoundsOfTime(t *testing.T) {
	two := 2.0
	mine := gates{{Unit: "ns/op", Most: &two, Over: "BenchmarkHook/hook=none", name: regexp.MustCompile("Hook/hook=a")}}
	for values, pass := range map[string]bool{"3 9 9": true, "4 9 9": false, "1 1 1": true} {
		text := strings.Repeat("BenchmarkHook/hook=none-2 1 1.5 ns/op\n", 3)
		for _, v := range strings.Fields(values) {
			text += "BenchmarkHook/hook=a-2 1 " + v + " ns/op\n"
		}
		r := parse([]byte(text))
		r.bound(mine)
		var told strings.Builder
		r.complain(&told)
		if r.Pass != pass || len(r.Compare) != 1 || strings.Contains(told.String(), "gate: Hook/hook=a ns/op 9, at most 3.5") == pass {
			t.Errorf("%s: %v %+v %s", values, r.Pass, r.Compare, told.String())
		}
	}
}

func TestAgainstAnOlderReport(t *testing.T) {
	dir := t.TempDir()
	text, saved := filepath.Join(dir, "r.txt"), filepath.Join(dir, "r.json")
	if err := errors.Join(os.WriteFile(text, rounds(1), 0o600), stats.Save(saved, parse(rounds(1)))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, saved} {
		old, err := readReport(file)
		if err != nil {
			t.Fatal(err)
		}
		now := parse(rounds(2))
		now.compareReports(old, nil)
		if len(now.Compare) != 4 {
			t.Fatalf("%+v", now.Compare)
		}
		if c := now.Compare[2]; c.Delta < 99 || c.Delta > 101 || c.P > stats.Significant || c.A != "old" {
			t.Errorf("%+v", c)
		}
		var drawn strings.Builder
		if err := now.draw(&drawn); err != nil || !strings.Contains(drawn.String(), "100.0 %") || !strings.Contains(drawn.String(), "before") {
			t.Error(err, drawn.String())
		}
	}
}

// TestForm: the file has the members of telemetry.md 13.7, and no others but the
// interval of a comparison of pairs.
func TestForm(t *testing.T) {
	r := parse(append([]byte(sample), rounds(1.1)...))
	r.compareSinks(gates{{Unit: "events/s", A: off, B: "telemetry=file", Budget: -3, name: regexp.MustCompile("Turn")}})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results, Compare []map[string]any
	}
	top := map[string]any{}
	if err := errors.Join(json.Unmarshal(b, &top), json.Unmarshal(b, &got)); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		have map[string]any
		want string
	}{
		"report":     {top, "arch commit compare cpus go os pass results rounds version"},
		"result":     {got.Results[0], "ci median n name unit values"},
		"comparison": {got.Compare[1], "a b budget_pct ci_pct delta_pct name p pass unit"},
	} {
		if have := strings.Join(slices.Sorted(maps.Keys(c.have)), " "); have != c.want {
			t.Errorf("%s: %s, wanted %s", what, have, c.want)
		}
	}
	if n := got.Results[0]["n"]; n != float64(1) {
		t.Errorf("n is %v", n)
	}
}

// TestEveryBenchmarkIsExplained: docs/performance.md names each benchmark of
// bench/, and each unit that is reported beside the usual ones.
func TestEveryBenchmarkIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	names := regexp.MustCompile(`(?:\nfunc Benchmark(\w+)\(|ReportMetric\(.*, "([^"]+)"\))`)
	found := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(b), -1) {
			found++
			if name := m[1] + m[2]; !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("docs/performance.md says nothing of `%s` (%s)", name, filepath.Base(file))
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d names found", found)
	}
}
