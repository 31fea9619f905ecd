package approval

import (
	"context"
	"encoding/json"
	"testing"

	"magicode/internal/protect"
	"magicode/internal/tool"
	"magicode/internal/tool/bash"
)

// counted denies every question and counts them.
type counted int

func (c *counted) Ask(context.Context, string) (Answer, error) {
	*c++
	return Denied, nil
}

// TestOnlyWhatRunsIsAsked: the user is asked about a command exactly when the
// tool would start it, and what is not asked about is refused by the tool.
func TestOnlyWhatRunsIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		asked      bool
	}{
		"complete":             {"bash", `{"command":"rm -rf x","intent":"clean"}`, true},
		"alias":                {"shell", `{"cmd":"rm -rf x","intent":"clean"}`, true},
		"null beside":          {"bash", `{"command":"rm -rf x","cmd":null,"intent":"clean"}`, true},
		"timeout":              {"bash", `{"command":"rm -rf x","intent":"clean","timeout":1}`, true},
		"no intent":            {"bash", `{"command":"rm -rf x"}`, false},
		"blank intent":         {"bash", `{"command":"rm -rf x","intent":" "}`, false},
		"both names":           {"bash", `{"command":"rm -rf x","cmd":"rm -rf y","intent":"clean"}`, false},
		"empty command":        {"bash", `{"command":"","intent":"clean"}`, false},
		"a NUL":                {"bash", `{"command":"rm -rf x\u0000","intent":"clean"}`, false},
		"another type":         {"bash", `{"command":["rm"],"intent":"clean"}`, false},
		"timeout out of range": {"bash", `{"command":"rm -rf x","intent":"clean","timeout":601}`, false},
		"unknown field":        {"bash", `{"command":"rm -rf x","intent":"clean","cwd":"/"}`, false},
		"twice":                {"bash", `{"command":"true","command":"rm -rf x","intent":"clean"}`, false},
		"no object":            {"bash", `["rm -rf x"]`, false},
		"no JSON":              {"bash", `{"command":"rm -rf x","intent":"clean"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var questions counted
			g := &Guard{Level: protect.Strict, Assess: protect.Assess, Asker: &questions, Place: protect.Place{Workspace: "/w", Home: "/home"}}
			env := tool.Env{Cwd: t.TempDir(), CanonicalCwd: t.TempDir()}
			call := tool.Call{ID: "c", Name: c.tool, Arguments: json.RawMessage(c.args)}
			v, err := g.Check(t.Context(), env, call, func(string) {})
			if err != nil || (questions > 0) != c.asked || v.Allowed == c.asked {
				t.Fatalf("%d questions, %+v, %v", questions, v, err)
			}
			if !c.asked {
				if res := bash.New(tool.ShellPolicy{}).Run(t.Context(), env, call.Arguments); res.Success || len(res.Metadata) != 0 {
					t.Errorf("the tool did not refuse: %+v", res)
				}
			}
		})
	}
}
