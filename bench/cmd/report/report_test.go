package main

import (
	"fmt"
	"path/filepath"
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

// TestGates: a budget is broken by what is beyond it and significant.
func TestGates(t *testing.T) {
	gates, err := readGates("../../gates.json")
	if err != nil || len(gates) == 0 {
		t.Fatal(gates, err)
	}
	mine := []gate{{Match: "Turn", Unit: "events/s", A: off, B: "telemetry=file", Budget: 3, name: gates[0].name}}
	for _, c := range []struct {
		slower float64
		pass   bool
	}{{1, true}, {1.02, true}, {1.04, true /* within the noise of the rounds */}, {1.5, false}, {0.5, true}} {
		r := parse(rounds(c.slower))
		r.compareSinks(mine)
		if r.Pass != c.pass || len(r.Compare) != 2 {
			t.Errorf("%v times: %v %+v", c.slower, r.Pass, r.Compare)
		}
	}
}

func TestAgainstAnOlderReport(t *testing.T) {
	old, now := parse(rounds(1)), parse(rounds(2))
	now.compareReports(old, nil)
	if len(now.Compare) != 4 {
		t.Fatalf("%+v", now.Compare)
	}
	if c := now.Compare[2]; c.Delta < 99 || c.Delta > 101 || c.P > significant || c.A != "old" {
		t.Errorf("%+v", c)
	}
	file := filepath.Join(t.TempDir(), "r.json")
	if err := now.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := readReport(file)
	if err != nil || len(again.Results) != len(now.Results) || stats.Median(again.Results[0].Values) != now.Results[0].Median {
		t.Errorf("%v %+v", err, again)
	}
	if err := now.draw(filepath.Join(t.TempDir(), "r.svg")); err != nil {
		t.Error(err)
	}
}
