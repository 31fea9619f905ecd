//go:build linux || darwin

package read

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
)

func TestDisplay(t *testing.T) {
	long := strings.Repeat("x\n", defaultLines+1)
	b := setup(t, map[string]string{"f": "one\ntwo\nthree\n", "long": long, "empty": "", "wide": strings.Repeat(strings.Repeat("w", 1023)+"\n", 1023)})
	at := func(name string) string { return b.env.Cwd + "/" + name }
	ok := func(name string, lines, rows int) tool.Resource {
		return tool.Resource{Location: at(name), Outcome: "success", Supplied: lines, Retained: rows, Completeness: "complete"}
	}
	const complete, limited = "complete\nSucceeded resources: 1\nFailed resources: 0\nOmitted resources: 0\nRead complete: true\nResults limited: false\nAggregate read limited: false\n",
		"incomplete\nSucceeded resources: 1\nFailed resources: 0\nOmitted resources: 0\nRead complete: false\nResults limited: true\nAggregate read limited: false\n"
	for _, tc := range []struct {
		name  string
		paths []string
		facts string
		want  []tool.Resource
	}{
		{"whole", []string{"f"}, "Requested resources: 1\nResult state: " + complete, []tool.Resource{ok("f", 3, 4)}},
		{"lines", []string{"f:2-3"}, "Requested resources: 1\nResult state: " + complete, []tool.Resource{ok("f", 2, 3)}},
		{"raw", []string{"f:raw"}, "Requested resources: 1\nResult state: " + complete, []tool.Resource{ok("f", 3, 3)}},
		{"raw lines", []string{"f:raw:1-2"}, "Requested resources: 1\nResult state: " + complete, []tool.Resource{ok("f", 2, 2)}},
		{"empty", []string{"empty"}, "Requested resources: 1\nResult state: " + complete, []tool.Resource{ok("empty", 0, 1)}},
		{"line limit", []string{"long"}, "Requested resources: 1\nResult state: " + limited,
			[]tool.Resource{{Location: at("long"), Outcome: "success", Supplied: defaultLines, Retained: defaultLines + 1, Completeness: "partial", Reason: lineLimit}}},
		{"a failure beside", []string{"f", "gone"}, "Requested resources: 2\nResult state: incomplete\nSucceeded resources: 1\nFailed resources: 1\nOmitted resources: 0\nRead complete: false\nResults limited: false\nAggregate read limited: false\n",
			[]tool.Resource{ok("f", 3, 4), {Location: "gone", Outcome: "failure", Supplied: -1, Retained: -1, Completeness: "unavailable", Reason: "no such file or directory: gone"}}},
		{"failures only", []string{"gone"}, "Requested resources: 1\nResult state: failed\nSucceeded resources: 0\nFailed resources: 1\nOmitted resources: 0\nRead complete: false\nResults limited: false\nAggregate read limited: false\n",
			[]tool.Resource{{Location: "gone", Outcome: "failure", Supplied: -1, Retained: -1, Completeness: "unavailable", Reason: "no such file or directory: gone"}}},
		{"call limit", []string{"wide:raw", "wide:raw", "f"}, "Requested resources: 3\nResult state: incomplete\nSucceeded resources: 2\nFailed resources: 0\nOmitted resources: 1\nRead complete: false\nResults limited: true\nAggregate read limited: true\n",
			[]tool.Resource{ok("wide", 1023, 1023), {Location: at("wide"), Outcome: "success", Supplied: 1, Retained: 1, Completeness: "partial", Reason: callLimit}, {Location: "f", Outcome: "omitted", Completeness: "omitted", Reason: callLimit}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := b.paths(tc.paths...).Display
			if d := cmp.Diff(tc.facts, got.String()); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.want, got.Resources); d != "" {
				t.Error(d)
			}
		})
	}
	one := b.tool.Run(context.Background(), b.env, []byte(`{"path":"f"}`))
	if d := cmp.Diff([]tool.Resource{ok("f", 3, 4)}, one.Display.Resources); d != "" {
		t.Error(d)
	}
}
