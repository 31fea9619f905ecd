package attach

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"magicode/internal/jsonscan"
	"magicode/internal/session"
)

const ceilingFields = `"cwd":"/w","inspection":true,"enabled_builtins":["read","grep"],"disabled_tools":["bash","mcp__s__t","jev","code_mode"],` +
	`"read_absolute_paths":true,"view_image_absolute_paths":true,"hashline_absolute_paths":true,"write_absolute_paths":true,"grep_absolute_paths":true,` +
	`"find_absolute_paths":true,"list_files_absolute_paths":true,"ast_grep_absolute_paths":true,"bash_absolute_paths":true,"bash_shell_expansion":true,` +
	`"subagents_absolute_paths":true,"remaining_depth":1`

const taskFields = `"intent":"look","mode":"inspect","agent":null,"context":null,"cwd":null`

func scopeJSON(task, ceiling, clarifications string) string {
	return `{"version":1,"original_task":{` + task + `},"ceiling":{` + ceiling + `},"clarifications":` + clarifications + `}`
}

func TestParseScope(t *testing.T) {
	with := func(old, new string) string {
		s := scopeJSON(taskFields, ceilingFields, `[]`)
		if !strings.Contains(s, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	names := func(n int) string {
		return `["` + strings.TrimSuffix(strings.Repeat(`mcp__s__t","`, n), `","`) + `"]`
	}
	clients := func(n int, digest string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"client__%d":"%s"`, i, digest))
		}
		return with(`"cwd":"/w"`, `"cwd":"/w","client_tools":{`+strings.Join(all, ",")+`}`)
	}
	digest := strings.Repeat("a1", 32)
	for _, c := range []struct {
		what, in string
		ok       bool
	}{
		{"plain", scopeJSON(taskFields, ceilingFields, `[]`), true},
		{"identity", with(`"intent"`, `"identity":{"a":1},"intent"`), true},
		{"code mode list", with(`"cwd":"/w"`, `"code_mode_disabled_tools":["bash"],"cwd":"/w"`), true},
		{"code mode list null", with(`"cwd":"/w"`, `"code_mode_disabled_tools":null,"cwd":"/w"`), true},
		{"standard", with(`inspect`, `standard`), true},
		{"bash_job", with(`"read","grep"`, `"read","bash_job"`), true},
		{"client tools", clients(32, digest), true},
		{"longest intent", with(`look`, strings.Repeat("x", maxIntentBytes)), true},
		{"longest context", with(`"context":null`, `"context":"`+strings.Repeat("x", maxContextBytes)+`"`), true},
		{"most names", with(`["bash","mcp__s__t","jev","code_mode"]`, names(maxNames)), true},
		{"deepest", with(`"remaining_depth":1`, `"remaining_depth":4`), true},
		{"most clarifications", scopeJSON(taskFields, ceilingFields, `["`+strings.TrimSuffix(strings.Repeat(`c","`, maxClarifications), `","`)+`"]`), true},

		{"no object", `[]`, false},
		{"null", `null`, false},
		{"version 2", with(`"version":1`, `"version":2`), false},
		{"version as text", with(`"version":1`, `"version":"1"`), false},
		{"unknown top field", with(`"version":1`, `"version":1,"more":1`), false},
		{"unknown task field", with(`"intent"`, `"more":1,"intent"`), false},
		{"unknown ceiling field", with(`"cwd":"/w"`, `"cwd":"/w","more":1`), false},
		{"repeated field", with(`"version":1`, `"version":1,"version":1`), false},
		{"other case", with(`"version":1`, `"Version":1`), false},
		{"no clarifications", with(`,"clarifications":[]`, ``), false},
		{"clarifications null", with(`"clarifications":[]`, `"clarifications":null`), false},
		{"clarification that is no text", with(`"clarifications":[]`, `"clarifications":[1]`), false},
		{"no agent", with(`"agent":null,`, ``), false},
		{"intent null", with(`"intent":"look"`, `"intent":null`), false},
		{"intent empty", with(`"look"`, `""`), false},
		{"intent too long", with(`look`, strings.Repeat("x", maxIntentBytes+1)), false},
		{"context too long", with(`"context":null`, `"context":"`+strings.Repeat("x", maxContextBytes+1)+`"`), false},
		{"agent too long", with(`"agent":null`, `"agent":"`+strings.Repeat("x", maxIntentBytes+1)+`"`), false},
		{"mode", with(`inspect"`, `other"`), false},
		{"ceiling cwd null", with(`"cwd":"/w"`, `"cwd":null`), false},
		{"ceiling without a switch", with(`"bash_shell_expansion":true,`, ``), false},
		{"a switch that is null", with(`"bash_shell_expansion":true`, `"bash_shell_expansion":null`), false},
		{"a switch that is a number", with(`"bash_shell_expansion":true`, `"bash_shell_expansion":1`), false},
		{"too deep", with(`"remaining_depth":1`, `"remaining_depth":5`), false},
		{"negative depth", with(`"remaining_depth":1`, `"remaining_depth":-1`), false},
		{"unknown builtin", with(`"read","grep"`, `"read","teleport"`), false},
		{"alias as builtin", with(`"read","grep"`, `"shell"`), false},
		{"unknown disabled tool", with(`"jev"`, `"teleport"`), false},
		{"mcp name without a tool", with(`mcp__s__t`, `mcp__s`), false},
		{"name too long", with(`mcp__s__t`, `mcp__s__`+strings.Repeat("t", maxNameBytes)), false},
		{"too many names", with(`["bash","mcp__s__t","jev","code_mode"]`, names(maxNames+1)), false},
		{"too many client tools", clients(33, digest), false},
		{"client tool digest", clients(1, digest[1:]), false},
		{"too many clarifications", scopeJSON(taskFields, ceilingFields, `["`+strings.TrimSuffix(strings.Repeat(`c","`, maxClarifications+1), `","`)+`"]`), false},
		{"clarifications too long", scopeJSON(taskFields, ceilingFields, `["`+strings.Repeat("c", maxClarificationsBytes+1)+`"]`), false},
		{"record too long", with(`"intent"`, `"identity":"`+strings.Repeat("x", maxScopeBytes)+`","intent"`), false},
	} {
		s, err := parseScope([]byte(c.in))
		if (err == nil) != c.ok || err != nil && (!errors.Is(err, ErrInvalid) || s != nil) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestRecordedScope: the child log of the sample home.
func TestRecordedScope(t *testing.T) {
	data, err := os.ReadFile("testdata/scope.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var f facts
	for i, ln := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		v := jsonscan.Value(ln)
		kind, _ := v.Get("event_type").Text()
		if err := f.Apply(session.Record{Kind: session.Kind(kind), Payload: v.Get("payload"), Index: i}); err != nil {
			t.Fatal(err)
		}
	}
	s := f.scope
	if s == nil || !s.Task.Inspect() || s.Task.Intent != "look around" || s.Ceiling.RemainingDepth != 1 {
		t.Fatalf("%+v", s)
	}
	for tool, want := range map[string]bool{"read": false, "grep": false, "bash": true, "write": true, "subagents": true, "mcp__s__t": false} {
		if got := s.Restricts(tool); got != want {
			t.Errorf("%s: restricted %v", tool, got)
		}
	}
}

func TestScopeRecords(t *testing.T) {
	scope := session.Record{Kind: session.KindTaskScope, Payload: []byte(scopeJSON(taskFields, ceilingFields, `["first"]`))}
	input := func(p string) session.Record {
		return session.Record{Kind: session.KindUserInput, Payload: []byte(p)}
	}
	checkpoint := func(index int, p string) session.Record {
		return session.Record{Kind: session.KindCompaction, Index: index, Payload: []byte(p)}
	}
	carried := `"task_scope_version":1,"task_scope":` + string(scope.Payload)
	for _, c := range []struct {
		what string
		in   []session.Record
		want string // clarifications, or the marker of an error
	}{
		{"none", []session.Record{input(`{"text":"q","task_clarification":true}`)}, "no scope"},
		{"a prompt under it", []session.Record{scope, input(`{"text":"q","task_scope_version":1}`)}, "first"},
		{"clarified", []session.Record{scope, input(`{"text":"q","task_scope_version":1,"task_clarification":true}`)}, "first q"},
		{"steered", []session.Record{scope, input(`{"text":"q","origin":"steering"}`)}, "first q"},
		{"carried by the checkpoint", []session.Record{checkpoint(0, `{`+carried+`}`), input(`{"text":"q","task_clarification":true}`)}, "first q"},
		{"null in a checkpoint", []session.Record{checkpoint(3, `{"task_scope":null,"task_scope_version":null}`)}, "no scope"},
		{"a second one", []session.Record{scope, scope}, "invalid"},
		{"a checkpoint further on", []session.Record{checkpoint(1, `{`+carried+`}`)}, "invalid"},
		{"a checkpoint without a version", []session.Record{checkpoint(0, `{"task_scope":`+string(scope.Payload)+`}`)}, "invalid"},
		{"a checkpoint without a scope", []session.Record{checkpoint(0, `{"task_scope_version":1}`)}, "invalid"},
		{"a checkpoint of another version", []session.Record{checkpoint(0, strings.Replace(`{`+carried+`}`, `_version":1`, `_version":2`, 1))}, "invalid"},
		{"a prompt under a missing one", []session.Record{input(`{"text":"q","task_scope_version":1}`)}, "invalid"},
		{"a prompt under another version", []session.Record{scope, input(`{"text":"q","task_scope_version":2}`)}, "invalid"},
		{"a clarification without text", []session.Record{scope, input(`{"task_clarification":true}`)}, "invalid"},
		{"clarifications over the bound", []session.Record{scope, input(`{"task_clarification":true,"text":"` + strings.Repeat("x", maxClarificationsBytes) + `"}`)}, "invalid"},
	} {
		var f facts
		var err error
		for _, r := range c.in {
			if err = f.Apply(r); err != nil {
				break
			}
		}
		got := "no scope"
		switch {
		case errors.Is(err, ErrInvalid):
			got = "invalid"
		case err != nil:
			got = err.Error()
		case f.scope != nil:
			got = strings.Join(f.scope.Clarifications, " ")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func FuzzParseScope(f *testing.F) {
	f.Add([]byte(scopeJSON(taskFields, ceilingFields, `[]`)))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := parseScope(in)
		if (s == nil) == (err == nil) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
