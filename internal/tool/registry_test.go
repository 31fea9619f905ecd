package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is a tool that answers with its name.
type fake struct {
	name string
	run  func(Env, json.RawMessage) Result
}

func (f fake) Definition() Definition { return Definition{Name: f.name} }

func (f fake) Run(_ context.Context, env Env, args json.RawMessage) Result {
	if f.run != nil {
		return f.run(env, args)
	}
	return Result{Success: true, Content: f.name}
}

func fakes(names ...string) []Tool {
	var out []Tool
	for _, n := range names {
		out = append(out, fake{name: n})
	}
	return out
}

func offered(r *Registry) string {
	var names []string
	for _, d := range r.Definitions() {
		names = append(names, d.Name)
	}
	return strings.Join(names, " ")
}

func TestDefinitions(t *testing.T) {
	all := fakes("code_mode", "mcp__b__x", "list_files", "mcp__a__y", "find", "grep", "write", "hash_edit", "bash", "read", "client__z", "magi_control", "ast_grep", "web", "subagents", "view_image")
	for _, tc := range []struct {
		name string
		opt  Options
		want string
	}{
		{"order", Options{}, "read view_image bash hash_edit write grep find list_files subagents web ast_grep magi_control mcp__a__y mcp__b__x client__z code_mode"},
		{"disabled", Options{Disabled: []string{"shell", "mcp__a__y", "code_mode", "view_image", "jev"}}, "read hash_edit write grep find list_files subagents web ast_grep magi_control mcp__b__x client__z"},
		{"allowance", Options{Allow: func(n string) bool { return n == "read" || n == "bash" }}, "read bash"},
		{"inspection", Options{Inspect: true}, "read grep find list_files ast_grep"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, offered(New(all, tc.opt))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDispatch(t *testing.T) {
	tools := append(fakes("read", "bash", "grep", "mcp__a__y", "mcp__b__x", "write"),
		fake{name: "find", run: func(Env, json.RawMessage) Result { panic("secret") }},
		fake{name: "web", run: func(env Env, _ json.RawMessage) Result {
			return Result{Success: true, Content: env.CallID, ToolName: "?"}
		}})
	r := New(tools, Options{Disabled: []string{"write", "mcp__b__x"}})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name, call string
		ctx        context.Context
		inspect    bool
		ok         bool
		content    string
	}{
		{name: "runs", call: "read", ok: true, content: "read"},
		{name: "alias", call: "shell", ok: true, content: "bash"},
		{name: "alias ffgrep", call: "ffgrep", ok: true, content: "grep"},
		{name: "unknown", call: "no_such_tool", content: "unknown tool 'no_such_tool'"},
		{name: "other case", call: "Read", content: "unknown tool 'Read'"},
		{name: "unknown mcp", call: "mcp__c__z", content: "unknown tool 'mcp__c__z'"},
		{name: "mcp", call: "mcp__a__y", ok: true, content: "mcp__a__y"},
		{name: "disabled", call: "write", content: "the tool 'write' is switched off here"},
		{name: "disabled mcp", call: "mcp__b__x", content: "the tool 'mcp__b__x' is switched off here"},
		{name: "cancelled", call: "read", ctx: cancelled, content: CancelledText},
		{name: "inspection", call: "bash", inspect: true, content: scopeText},
		{name: "inspection of an unknown name", call: "nope", inspect: true, content: scopeText},
		{name: "inspection allows", call: "read", inspect: true, ok: true, content: "read"},
		{name: "panic", call: "fffind", content: "the tool 'fffind' failed because of an internal error"},
		{name: "call id", call: "web", ok: true, content: "id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := tc.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			got := r.Dispatch(ctx, Env{Inspect: tc.inspect}, Call{ID: "id", Name: tc.call})
			if got.Content != tc.content || got.Success != tc.ok || got.ToolName != tc.call || got.Metadata == nil {
				t.Errorf("%+v", got)
			}
		})
	}
	if _, ok := r.Lookup("shell"); !ok {
		t.Error("Lookup of an alias")
	}
	if _, ok := r.Lookup("write"); ok {
		t.Error("Lookup of a disabled tool")
	}
}

// TestWith: a tool takes another's place, what is offered stays, and the registry
// that it was made of stays too.
func TestWith(t *testing.T) {
	r := New(fakes("write", "read", "bash"), Options{Disabled: []string{"bash"}})
	other := func(Env, json.RawMessage) Result { return Result{Success: true, Content: "other"} }
	n := r.With(fake{"read", other}).With(fake{"bash", other})
	if offered(n) != offered(r) || offered(n) != "read write" {
		t.Errorf("offered: %s, before: %s", offered(n), offered(r))
	}
	for _, c := range []struct {
		r          *Registry
		name, want string
		ok         bool
	}{{n, "read", "other", true}, {n, "write", "write", true}, {r, "read", "read", true}, {n, "bash", "", false}} {
		if got := c.r.Dispatch(t.Context(), Env{}, Call{Name: c.name}); got.Success != c.ok || c.ok && got.Content != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a tool took the place of none")
		}
	}()
	r.With(fake{name: "grep"})
}

func TestTwoOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(fakes("read", "read"), Options{})
}

func TestDisableKey(t *testing.T) {
	for _, tc := range []struct {
		in, key string
		ok      bool
	}{
		{" shell ", "bash", true}, {"read", "read", true}, {"code_mode", "code_mode", true}, {"jev", "jev", true},
		{"mcp__a__b", "mcp__a__b", true}, {"mcp__a-B_1__c", "mcp__a-B_1__c", true},
		{"mcp__a", "", false}, {"mcp____b", "", false}, {"mcp__a__", "", false}, {"mcp__a__b__c", "", false}, {"mcp__a__b c", "", false},
		{"mcp__a__" + strings.Repeat("x", 57), "", false}, {"nope", "", false}, {"", "", false}, {"Read", "", false},
	} {
		key, ok := DisableKey(tc.in)
		if ok != tc.ok || ok && key != tc.key {
			t.Errorf("%q: %q %v", tc.in, key, ok)
		}
	}
}

func TestDecode(t *testing.T) {
	type args struct {
		Intent
		Path  *string  `json:"path"`
		Limit *int     `json:"limit"`
		Names []string `json:"names"`
		Flag  *bool    `json:"flag"`
	}
	for _, tc := range []struct{ in, want string }{
		{`{"path":"a","limit":3,"names":["x"],"flag":true,"intent":"why"}`, ""},
		{`{"path":null,"limit":null,"names":null,"flag":null,"intent":null}`, ""},
		{``, ""}, {`{}`, ""}, {` { } `, ""},
		{`[]`, "an object is wanted"}, {`"x"`, "an object is wanted"}, {`null`, "an object is wanted"},
		{`{"path":1}`, `field "path" must be a string`},
		{`{"limit":"3"}`, `field "limit" must be a whole number`},
		{`{"limit":1.5}`, `field "limit" must be a whole number`},
		{`{"limit":99999999999999999999}`, `field "limit" must be a whole number`},
		{`{"names":"x"}`, `field "names" must be an array`},
		{`{"names":["x",2]}`, `field "names/1" must be a string`},
		{`{"flag":"yes"}`, `field "flag" must be true or false`},
		{`{"intent":5}`, `field "intent" must be a string`},
		{`{"Path":"a"}`, `unknown field "Path"`},
		{`{"other":"secret"}`, `unknown field "other"`},
		{`{"path":"a","path":"b"}`, `field "path" is given twice`},
		{`{"path":"a"`, "not valid JSON"},
		{`{"path":"a"} x`, "not valid JSON"},
		{"{\"path\":\"\xff\"}", "not valid JSON"},
	} {
		var a args
		err := Decode(json.RawMessage(tc.in), &a)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.in, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tc.in, err)
		}
	}
}

func TestPreflight(t *testing.T) {
	free, tight := ShellPolicy{AbsolutePaths: true, ShellExpansion: true}, ShellPolicy{}
	noAbs := ShellPolicy{ShellExpansion: true}
	for _, tc := range []struct {
		policy  ShellPolicy
		command string
		ok      bool
	}{
		{free, "ls -la /etc && cd /tmp", true}, {free, "echo $HOME ~ `x` {a,b}", true}, {free, "git diff HEAD~1..HEAD", true},
		{free, "cat ..", false}, {free, "cat ../x", false}, {free, "cat a/../b", false}, {free, "cat a/..", false}, {free, `cat a\..\b`, false},
		{free, "x=../y", false}, {free, "gcc -I../include", false}, {free, `cat "../x"`, false}, {free, "true;cd ..", false}, {free, "echo $(cat ../x)", false},
		{free, "--dir='..'", false}, {free, "a...b ...", true}, {free, "echo ..x x..", true},
		{tight, "echo hi", true}, {tight, "echo $X", false}, {tight, "echo ~", false}, {tight, "echo `x`", false}, {tight, "echo {a", false}, {tight, "a}", false},
		{noAbs, "cat /etc/passwd", false}, {noAbs, "cat x", true}, {noAbs, "cd .", true}, {noAbs, "cd sub", false}, {noAbs, "cd", false}, {noAbs, "true && cd x", false},
		{noAbs, "cat 'C:\\x'", false}, {noAbs, "--o=/x", false}, {noAbs, "gcc -I/usr", false}, {noAbs, "cdx", true}, {noAbs, "a | /bin/b", false}, {noAbs, "echo > /dev/null", false},
	} {
		if err := tc.policy.Preflight(tc.command); (err == nil) != tc.ok {
			t.Errorf("%+v %q: %v", tc.policy, tc.command, err)
		}
	}
}
