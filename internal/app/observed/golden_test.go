package observed

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/spans.txt anew")

// What differs between two conversations that are alike, or is a matter of speed.
var (
	measured = regexp.MustCompile(`(expires|wait|fsync|queue)_ms$|bytes$|\.size$|^process\.pid$|time_to_first_chunk$|output\.pending$|stream\.chunks$|deltas$|^magi\.frames\.`)
	hashed   = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
)

// drawn writes spans as a tree: each with its kind, where it links to, what it
// failed of, its events and, by their keys, its attributes. Siblings stand by name, then in their
// order.
func drawn(all []span) string {
	names, children := map[string]string{}, map[string][]span{}
	for _, s := range all {
		names[s.SpanID] = hashed.ReplaceAllString(s.Name, "H")
		children[s.ParentSpanID] = append(children[s.ParentSpanID], s)
	}
	var b strings.Builder
	var draw func(parent, indent string)
	draw = func(parent, indent string) {
		slices.SortFunc(children[parent], func(x, y span) int {
			return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(len(x.StartTimeUnixNano), len(y.StartTimeUnixNano)), cmp.Compare(x.StartTimeUnixNano, y.StartTimeUnixNano))
		})
		for _, s := range children[parent] {
			if s.occasional() {
				continue
			}
			fmt.Fprintf(&b, "%s%s kind=%d", indent, names[s.SpanID], s.Kind)
			for _, l := range s.Links {
				fmt.Fprintf(&b, " link=%q", names[l.SpanID])
			}
			if s.Status.Code != 0 {
				fmt.Fprintf(&b, " status=%d", s.Status.Code)
			}
			b.WriteByte('\n')
			for _, e := range s.Events {
				fmt.Fprintf(&b, "%s  | %s\n", indent, e.Name)
			}
			slices.SortFunc(s.Attributes, func(x, y attribute) int { return cmp.Compare(x.Key, y.Key) })
			for _, a := range s.Attributes {
				value, _ := json.Marshal(a.Value)
				text := strings.NewReplacer("Value", "", `"`, "").Replace(hashed.ReplaceAllString(string(value), "H"))
				if measured.MatchString(a.Key) {
					text = "…"
				}
				fmt.Fprintf(&b, "%s  - %s=%s\n", indent, a.Key, text)
			}
			draw(s.SpanID, indent+"    ")
		}
	}
	draw("", "")
	return b.String()
}

// occasional: whether there is such a span is a matter of speed.
func (s span) occasional() bool {
	return s.Name == "magi.history.fingerprint" || s.Name == "magi.output.stall" || s.Name == "magi.event.wait"
}

// TestSpanTree: one conversation has exactly the spans of testdata/spans.txt, with
// their parents, links, events and attributes (T-16). It starts an MCP server,
// makes a session, has a turn with a file, a server's tool, a question, a hook and
// a task, takes a page, opens the session and has a second turn. go test
// ./internal/app/observed -run TestSpanTree -update writes the file anew.
func TestSpanTree(t *testing.T) {
	s := newTimed(t, &delay{where: "nowhere"})
	s.w.settings["automation"] = map[string]any{"hooks": map[string]any{"enabled": true, "after_tool": []any{map[string]any{"label": "wait", "command": "true"}}}}
	s.w.save(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.converse(ctx, plan{Steps: []string{"read", "look", "bash", "delegate", "text"}, Chunks: 2})
	s.closed()
	got := drawn(spans(t, s.w))
	const file = "testdata/spans.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("spans (-want +got)\n%s", diff)
	}
}
