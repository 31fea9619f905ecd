package attach

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func anyCeiling(t *rapid.T, label string) Ceiling {
	names := rapid.SliceOfDistinct(rapid.SampledFrom(builtins), rapid.ID[string])
	c := Ceiling{Cwd: "/w", Inspection: rapid.Bool().Draw(t, label+" inspection"), EnabledBuiltins: names.Draw(t, label+" enabled"),
		DisabledTools: names.Draw(t, label+" disabled"), CodeModeDisabledTools: names.Draw(t, label+" inner"), RemainingDepth: rapid.IntRange(0, maxDepth).Draw(t, label+" depth")}
	for _, f := range c.flags() {
		*f = rapid.Bool().Draw(t, label+" flag")
	}
	return c
}

func allows(c Ceiling, name string) bool {
	return c.Enables(name) && !slices.Contains(c.DisabledTools, name)
}

// TestNarrow: what both allow, and nothing else; narrowing again changes nothing,
// and the result is a scope's ceiling that can be stored and read.
func TestNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyCeiling(t, "a"), anyCeiling(t, "b")
		before := cmp.Diff(a, Ceiling{})
		c := a.Narrow(b)
		for _, name := range append(Builtins(), "mcp__s__t") {
			if allows(c, name) != (allows(a, name) && allows(b, name)) {
				t.Fatalf("%s: %v", name, allows(c, name))
			}
		}
		for i, f := range c.flags() {
			if *f != (*a.flags()[i] && *b.flags()[i]) {
				t.Fatalf("flag %d", i)
			}
		}
		if c.RemainingDepth != min(a.RemainingDepth, b.RemainingDepth) || c.Inspection != (a.Inspection || b.Inspection) {
			t.Fatalf("%+v", c)
		}
		if d := cmp.Diff(c, c.Narrow(b)); d != "" {
			t.Fatal(d)
		}
		if before != cmp.Diff(a, Ceiling{}) {
			t.Fatal("narrowing changed what it narrowed")
		}
		raw, err := json.Marshal(Scope{Version: 1, Task: Task{Intent: "i", Mode: "standard"}, Ceiling: c, Clarifications: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseScope(raw); err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
	})
}

func TestNarrowClientTools(t *testing.T) {
	a := Ceiling{ClientTools: map[string]string{"client__a": "1", "client__b": "2"}}
	b := Ceiling{ClientTools: map[string]string{"client__a": "1", "client__b": "3", "client__c": "4"}}
	if d := cmp.Diff(map[string]string{"client__a": "1"}, a.Narrow(b).ClientTools); d != "" {
		t.Error(d)
	}
}

func TestDisableAndKeep(t *testing.T) {
	whole := Ceiling{EnabledBuiltins: Builtins()}
	c := whole.Disable("bash", "mcp__s__t", "bash")
	if !slices.Equal(c.DisabledTools, []string{"bash", "mcp__s__t"}) || slices.Contains(c.EnabledBuiltins, "bash") || !slices.Contains(whole.EnabledBuiltins, "bash") {
		t.Errorf("%+v", c)
	}
	only := whole.Keep(func(n string) bool { return n == "read" })
	if !slices.Equal(only.EnabledBuiltins, []string{"read"}) || len(only.DisabledTools) != len(builtins)-1 {
		t.Errorf("%+v", only)
	}
	if !whole.SamePaths(only) || whole.SamePaths(Ceiling{WriteAbsolutePaths: true}) {
		t.Error("SamePaths")
	}
}
