package reader

import (
	"slices"
	"strings"
	"testing"
)

// TestOpenInRotated: where segments are gone, a span without an end is open only where
// that follows from what is left.
func TestOpenInRotated(t *testing.T) {
	logs := func() *build {
		return new(build).record("magi.span.start", 0, "c", "magi.span.name", "magi.child").
			record("magi.span.start", 10, "old", "magi.span.name", "magi.hook", "magi.span.parent", "r1").
			record("magi.span.start", 10, "r1", "magi.span.name", runSpan, "magi.run.seq", 1).
			record("magi.span.start", 20, "r2", "magi.span.name", runSpan, "magi.run.seq", 2).
			record("magi.span.start", 20, "far", "magi.span.name", "magi.startup").
			record("magi.span.event", 910, "far", "magi.span.name", "magi.startup").
			record("magi.span.start", 920, "new", "magi.span.name", "chat", "magi.span.parent", "r2")
	}
	head, tail := new(build).span("magi.hook", 0, 5), new(build).span("magi.hook", 880, 900).span("magi.hook", 905, 950)
	for name, row := range map[string]struct {
		logs  string
		later string // name of the newest segment of the traces
		want  []string
	}{
		"not rotated":        {logs().logs.String(), "x.traces.1.jsonl", []string{"c", "old", "r1", "r2", "far", "new"}},
		"rotated":            {logs().logs.String(), "x.traces.7.jsonl", []string{"c", "r2", "far", "new"}},
		"rotated, and ended": {logs().exit(960, "shutdown", false).logs.String(), "x.traces.7.jsonl", nil},
	} {
		c := new(Capture)
		for _, f := range [][2]string{{"x.traces.jsonl", head.traces.String()}, {row.later, tail.traces.String()}, {"x.logs.jsonl", row.logs}} {
			if err := c.Read(strings.NewReader(f[1]), f[0]); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, u := range Analyse("x", c).Unfinished {
			got = append(got, u.span.ID)
		}
		slices.Sort(got)
		slices.Sort(row.want)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: open are %v, want %v", name, got, row.want)
		}
		if c.Rotated != (row.later == "x.traces.7.jsonl") {
			t.Errorf("%s: rotated %v", name, c.Rotated)
		}
	}
}

// TestOpenRuns: a run that never ended is shown with its parts, and one that its own
// start record is missing of as well.
func TestOpenRuns(t *testing.T) {
	a := new(build).record("magi.span.start", 0, "r", "magi.span.name", runSpan, "magi.run.seq", 4).
		record("magi.span.start", 30, "t", "magi.span.name", "execute_tool bash", "magi.span.parent", "r").
		record("magi.span.open", 130, "u", "magi.span.name", "magi.hook", "magi.span.parent", "t", "magi.span.age_ms", 40).analyse(t)
	if len(a.Runs) != 1 || !a.Runs[0].Open || a.Runs[0].Seq != 4 || a.Runs[0].Took != 130 || len(a.Runs[0].Parts) != 1 || a.Runs[0].Parts[0].Took != 100 || !a.Runs[0].Parts[0].Open {
		t.Errorf("%+v", a.Runs)
	}
	if len(a.Unfinished) != 3 || a.Unfinished[0].Name != "magi.hook" || a.Unfinished[0].Age != 40 || a.Unfinished[0].Depth != 2 {
		t.Errorf("%+v", a.Unfinished)
	}
	var out strings.Builder
	Print(&out, a, Look{})
	for _, want := range []string{"run 4   unfinished", "≥    130 ms", "execute_tool bash", "▶"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestLossOfCounts: where the counts of what is missing are gone with it, the records
// tell how much it was.
func TestLossOfCounts(t *testing.T) {
	b := new(build).span("magi.child", 0, 500).record("magi.heartbeat", 400, "", "magi.telemetry.dropped", 9).exit(500, "shutdown", false)
	c := new(Capture)
	for _, f := range [][2]string{{"x.traces.jsonl", b.traces.String()}, {"x.logs.jsonl", b.logs.String()}, {"x.metrics.jsonl", ""}, {"x.metrics.6.jsonl", ""}} {
		if err := c.Read(strings.NewReader(f[1]), f[0]); err != nil {
			t.Fatal(err)
		}
	}
	v := Analyse("x", c).Verdicts
	if len(v) != 1 || v[0].Details[0] != "given up: 9 items" || !slices.Contains(v[0].Evidence, Evidence{File: "x.metrics.6.jsonl", Line: 1, Record: "first line behind what is missing"}) {
		t.Errorf("%+v", v)
	}
}
