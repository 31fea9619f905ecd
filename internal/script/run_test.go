package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
)

func TestValues(t *testing.T) {
	for name, row := range map[string]struct{ code, want string }{
		"nothing":         {``, `null`},
		"no return":       {`const a = 1;`, `null`},
		"undefined":       {`return undefined`, `null`},
		"a number":        {`return 1 + 1`, `2`},
		"an object":       {`return {a: [1, "x", null, undefined], b: undefined}`, `{"a":[1,"x",null,null]}`},
		"a comment last":  {`return 1 // done`, `1`},
		"NaN":             {`return NaN`, `null`},
		"NUL":             {`return "a\0b"`, `"a\u0000b"`},
		"half an emoji":   {`return "\ud83d"`, `"\ud83d"`},
		"toJSON":          {`return {toJSON() { return 7 }}`, `7`},
		"a date":          {`return new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		"strict":          {`return (function () { return this })()`, `null`},
		"call":            {`return tools.call("echo", {b: 1})`, `{"success":true,"content":{"text":"{\"b\":1}"}}`},
		"alias":           {`return tools.call("shell", {}).success`, `true`},
		"structured":      {`return tools.call("read", {}).content`, `{"complete":true,"files":[]}`},
		"failed call":     {`return tools.call("fail", {})`, `{"success":false,"error":{"code":"tool_error","message":"it failed"}}`},
		"unavailable":     {`return tools.call("gone", {}).error.code`, `"unavailable_tool"`},
		"list":            {`return tools.list()`, `[{"name":"read","description":"Reads files"},{"name":"echo","description":"Says it back"}]`},
		"search":          {`return tools.search("FILES read").map(t => t.name)`, `["read"]`},
		"search none":     {`return tools.search("files back")`, `[]`},
		"search all":      {`return tools.search("").length`, `2`},
		"describe":        {`const d = tools.describe("read"); return [d.name, d.parameters, d.output_schema.required, "type" in d]`, `["read",{"type":"object"},["files","complete"],false]`},
		"describe none":   {`return tools.describe("bash")`, `null`},
		"budget":          {`tools.call("echo", {}); const b = tools.budget(); return [b.inner_calls, b.return_bytes_limit, b.memory_bytes.used > 50000, b.batch_history_bytes]`, `[{"used":1,"limit":200,"remaining":199},262144,true,null]`},
		"no host":         {`return [typeof process, typeof require, typeof console, typeof print, typeof setTimeout, typeof std, typeof os, typeof __host, typeof __run, typeof scriptArgs, typeof fetch, typeof navigator]`, `[` + strings.TrimSuffix(strings.Repeat(`"undefined",`, 12), ",") + `]`},
		"globals":         {`return Object.getOwnPropertyNames(globalThis).filter(n => /^[a-z_]/.test(n)).sort()`, `["decodeURI","decodeURIComponent","encodeURI","encodeURIComponent","escape","eval","globalThis","isFinite","isNaN","parseFloat","parseInt","tools","undefined","unescape"]`},
		"frozen":          {`try { tools.call = 1 } catch (e) { return [e.name, Object.isFrozen(tools), Object.isFrozen(tools.call)] }`, `["TypeError",true,true]`},
		"not replaceable": {`try { globalThis.tools = 1 } catch (e) { try { delete globalThis.tools } catch (f) { return tools.call("echo", {}).success } }`, `true`},
		"arrays":          {`return [[3,1,2].sort().map(x => x * 2).filter(x => x > 2).join("-"), [1,2].indexOf(2), [..."ab"].reverse()]`, `["4-6",1,["b","a"]]`},
		"deep":            {`let a = 1; for (let i = 0; i < 200; i++) a = [a]; return JSON.stringify(a).length`, `401`},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := run(t, t.Context(), row.code, Options{})
			if err != nil || out.Error != "" {
				t.Fatalf("%v %s", err, out.Error)
			}
			if d := cmp.Diff(row.want, string(out.Value)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestExceptions(t *testing.T) {
	at := func(message, where string) string {
		return "Code Mode JavaScript failed: " + message + where + "; completed effects remain applied"
	}
	for name, row := range map[string]struct{ code, want string }{
		"thrown":            {"\n\nthrow new Error('no luck')", at("no luck", " (line 3, column 16)")},
		"in a function":     {"function f() {\n  null.x;\n}\nf()", at("cannot read property 'x' of null", " (line 2, column 7)")},
		"inside a built-in": {"\n[1].map(() => {\n throw new Error('deep') })", at("deep", " (line 3, column 17)")},
		"syntax":            {"let a = 1;\nlet b = ;", at("SyntaxError: unexpected token in expression: ';'", " (line 2, column 9)")},
		"open brace":        {"if (true) {", at("SyntaxError: the script ends too early", " (line 1)")},
		"close brace":       {"} 1; {", ""},
		"await":             {"await 1", ""},
		"import":            {"import x from 'y'", ""},
		"a string":          {"throw 'plain'", at("plain", "")},
		"a number":          {"throw 7", at("7", "")},
		"null":              {"throw null", at("null", "")},
		"a symbol":          {"throw Symbol('x')", at("a symbol was thrown", "")},
		"no message":        {"throw {}", at("an exception without a message", "")},
		"a secret":          {"throw new Error('api_key=sk-proj-" + strings.Repeat("A1b2C3d4", 6) + "')", ""},
		"getters":           {"throw {get message() { tools.call('change', {}); return 'ran' }, get stack() { throw 1 }}", at("an exception without a message", "")},
		"inherited getters": {"class E { get message() { tools.call('change', {}) } get stack() { tools.call('change', {}) } } throw new E()", at("an exception without a message", "")},
		"a message object":  {"throw {message: {toString() { tools.call('change', {}) }}}", at("an exception without a message", "")},
		"a hostile proxy":   {"throw new Proxy({}, {getOwnPropertyDescriptor() { throw 1 }})", at("an exception without a message", "")},
		"a promise":         {"return Promise.resolve(1)", ""},
		"an async function": {"return (async () => 1)()", ""},
		"a function":        {"return () => 1", ""},
		"a BigInt":          {"return 1n", ""},
		"a cycle":           {"const a = {}; a.a = a; return a", ""},
		"no arguments":      {"tools.call('echo')", at("tools.call needs the tool's arguments: an object, {} for none", " (line 1, column 11)")},
		"no name":           {"tools.call({}, {})", at("the name in tools.call must be a string", " (line 1, column 11)")},
		"bad arguments":     {"tools.call('echo', () => 1)", ""},
		"BigInt arguments":  {"tools.call('echo', {n: 1n})", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, res, err := run(t, t.Context(), row.code, Options{})
			if err != nil || out.Status != "terminated" || out.Recovery == "" {
				t.Fatalf("%v %+v", err, out)
			}
			if row.want != "" {
				if d := cmp.Diff(row.want, out.Error); d != "" {
					t.Error(d)
				}
			}
			if strings.Contains(out.Error, "A1b2C3d4") || len(res.Changed) > 0 {
				t.Errorf("%s, changed %v", out.Error, res.Changed)
			}
		})
	}
}

func TestLongMessageIsCut(t *testing.T) {
	out, _, _ := run(t, t.Context(), "throw new Error('é '.repeat(5000))", Options{})
	if n := len([]rune(out.Error)); n < 2000 || n > 2200 {
		t.Errorf("%d characters", n)
	}
}

func TestLimits(t *testing.T) {
	big := func(context.Context, int, string, json.RawMessage) (tool.Result, error) {
		return tool.Result{Success: true, Content: strings.Repeat("x", 1000)}, nil
	}
	for name, row := range map[string]struct {
		code   string
		change func(*Limits)
		call   func(context.Context, int, string, json.RawMessage) (tool.Result, error)
		want   Kind
	}{
		"source":             {"return '" + strings.Repeat("x", 65536) + "'", nil, nil, SourceLimit},
		"calls":              {"for (;;) tools.call('echo', {})", func(l *Limits) { l.InnerCalls = 3 }, nil, InnerCallLimit},
		"calls, caught":      {"for (;;) { try { tools.call('echo', {}) } catch (e) {} finally { continue } }", func(l *Limits) { l.InnerCalls = 3 }, nil, InnerCallLimit},
		"return":             {"return 'x'.repeat(300000)", nil, nil, ReturnLimit},
		"one result":         {"tools.call('echo', {}); for (;;);", func(l *Limits) { l.InnerResultBytes = 500 }, big, InnerResultLimit},
		"one result, caught": {"try { tools.call('echo', {}) } catch (e) { return 1 }", func(l *Limits) { l.InnerResultBytes = 500 }, big, InnerResultLimit},
		"all results":        {"for (;;) tools.call('echo', {})", func(l *Limits) { l.TotalResultBytes = 5000 }, big, TotalResultLimit},
		"discovery":          {"for (;;) tools.list()", func(l *Limits) { l.TotalResultBytes = 5000 }, nil, TotalResultLimit},
		"time":               {"for (;;);", func(l *Limits) { l.Runtime = 50 * time.Millisecond }, nil, TimeLimit},
		"time, caught":       {"for (;;) { try { for (;;); } catch (e) {} finally { continue } }", func(l *Limits) { l.Runtime = 50 * time.Millisecond }, nil, TimeLimit},
		"memory":             {"const a = []; for (;;) a.push('x'.repeat(1000) + a.length)", func(l *Limits) { l.MemoryBytes = 2 << 20 }, nil, MemoryLimit},
		"memory at once":     {"return 'x'.repeat(2 ** 29).length", nil, nil, MemoryLimit},
		"batch history": {"tools.call('echo', {})", nil, func(context.Context, int, string, json.RawMessage) (tool.Result, error) {
			return tool.Result{}, &LimitError{BatchHistoryLimit, 8}
		}, BatchHistoryLimit},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Limits: limits(), Call: row.call}
			if row.change != nil {
				row.change(&o.Limits)
			}
			out, _, err := run(t, t.Context(), row.code, o)
			if err != nil || !strings.Contains(out.Error, "limit of "+string(row.want)+" (") || out.Recovery == "" {
				t.Errorf("%v: %+v", err, out)
			}
		})
	}
}

// TestWaitingIsNotScriptTime: a tool may take longer than the script's limit.
func TestWaitingIsNotScriptTime(t *testing.T) {
	o := Options{Limits: limits(), Call: func(context.Context, int, string, json.RawMessage) (tool.Result, error) {
		<-time.After(300 * time.Millisecond)
		return tool.Result{Success: true}, nil
	}}
	o.Limits.Runtime = 200 * time.Millisecond
	out, _, err := run(t, t.Context(), "tools.call('echo', {}); return tools.budget().runtime_ms.used", o)
	if err != nil || out.Error != "" {
		t.Fatalf("%v %+v", err, out)
	}
}

func TestFatalErrorsEndTheTurn(t *testing.T) {
	denied := errors.New("denied")
	o := Options{Call: func(_ context.Context, seq int, _ string, _ json.RawMessage) (tool.Result, error) {
		if seq == 2 {
			return tool.Result{}, denied
		}
		return tool.Result{Success: true, Changed: []string{"/w/a"}}, nil
	}}
	out, res, err := run(t, t.Context(), "for (let i = 0; i < 9; i++) { try { tools.call('echo', {}) } catch (e) {} }", o)
	if !errors.Is(err, denied) || out.Status != "terminated" {
		t.Fatalf("%v %+v", err, out)
	}
	want := Execution{Actions: []Action{{1, true, "echo"}, {2, false, "echo"}}, ChangedPathCount: 1, ChangedPaths: []string{"/w/a"},
		Effects: effectsMessage, InnerCalls: 2, Successful: 1, UnknownOutcomes: 1, Warnings: []string{}}
	out.Execution.ElapsedMS = 0
	if d := cmp.Diff(want, out.Execution); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"/w/a"}, res.Changed); d != "" || res.Metadata["code_mode_execution"] == nil {
		t.Error(d, res.Metadata)
	}
}

func TestCancellation(t *testing.T) {
	cause := errors.New("user")
	for name, code := range map[string]string{
		"while it computes": "tools.call('start', {}); for (;;) { try { for (;;); } catch (e) {} }",
		"in a call":         "tools.call('start', {}); tools.call('wait', {}); for (;;);",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			o := Options{Call: func(ctx context.Context, _ int, name string, _ json.RawMessage) (tool.Result, error) {
				if name == "start" {
					time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
					return tool.Result{Success: true}, nil
				}
				<-ctx.Done()
				return tool.Result{}, context.Cause(ctx)
			}}
			out, _, err := run(t, ctx, code, o)
			if !errors.Is(err, cause) || out.Error != tool.CancelledText {
				t.Errorf("%v %+v", err, out)
			}
		})
	}
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, _, err := run(t, ctx, "return 1", Options{}); !errors.Is(err, cause) {
			t.Error(err)
		}
	})
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:                        `field "code" is required`,
		`{"code":1}`:                `must be a string`,
		`{"code":"","x":1}`:         `unknown field`,
		`{"code":"","intent":" "}`:  `field "intent" is blank`,
		`[]`:                        `an object is wanted`,
		`{"code":null,"intent":""}`: `field "code" is required`,
	} {
		res, err := Run(t.Context(), json.RawMessage(args), Options{Limits: limits()})
		if err != nil || res.Success || !strings.Contains(res.Content, want) {
			t.Errorf("%s: %v %s", args, err, res.Content)
		}
	}
}

func TestReport(t *testing.T) {
	o := Options{Limits: limits(), Call: echo}
	o.Limits.InnerCalls = 1000
	out, res, _ := run(t, t.Context(), "for (let i = 0; i < 150; i++) tools.call(i % 2 ? 'change' : 'fail', {})", o)
	x := out.Execution
	if x.InnerCalls != 150 || len(x.Actions) != 100 || x.ActionsOmitted != 50 || x.Successful != 75 || x.RecoverableFailures != 75 ||
		len(x.ChangedPaths) != 50 || x.ChangedPathCount != 75 || x.ChangedPathsIncomplete || len(res.Changed) != 75 {
		t.Errorf("%+v", x)
	}
}

// TestReportIsRecorded: metadata holds the report that the model got, and what
// the whole result takes in tokens, at four bytes each (extensions.md 13.12).
func TestReportIsRecorded(t *testing.T) {
	for name, code := range map[string]string{"value": "return 1", "three bytes more": "return 1000", "failure": "throw new Error('no')", "no call": ""} {
		t.Run(name, func(t *testing.T) {
			out, res, _ := run(t, t.Context(), code, Options{Limits: limits(), Call: echo})
			if d := cmp.Diff(&out.Execution, res.Metadata["code_mode_execution"]); d != "" {
				t.Error(d)
			}
			if n := res.Metadata["code_mode_response_token_estimate"].(int); 4*n < len(res.Content) || 4*n >= len(res.Content)+4 {
				t.Errorf("%d tokens for %d bytes", n, len(res.Content))
			}
		})
	}
}

// TestWarningsAreBounded: that some are missing is the last that is said.
func TestWarningsAreBounded(t *testing.T) {
	for n, last := range map[int]string{1: "w0", 32: "w31", 33: moreWarnings, 40: moreWarnings} {
		var y tally
		for i := range n {
			y.warn(fmt.Sprint("w", i))
		}
		if got := y.execution(0).Warnings; len(got) != min(n, maxWarnings) || got[len(got)-1] != last {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestTrackingIsBounded(t *testing.T) {
	var y tally
	for i := range 2000 {
		y.change(strings.Repeat("p", i%3) + time.Duration(i).String())
	}
	if len(y.changed) != maxTracked || !y.report.ChangedPathsIncomplete {
		t.Error(len(y.changed))
	}
	var long tally
	long.change("/" + strings.Repeat("é", 600))
	if !long.report.ChangedPathsIncomplete || len(long.report.ChangedPaths[0]) > maxPathBytes {
		t.Error(long.report)
	}
}

func TestTimeless(t *testing.T) {
	args := json.RawMessage(`{"code":"return {elapsed_ms: 5}"}`)
	res, _ := Run(t.Context(), args, Options{Limits: limits()})
	got := Timeless(res.Content)
	if !strings.Contains(got, `{"elapsed_ms":5}`) || !strings.Contains(got, `"elapsed_ms":,`) || Timeless("x") != "x" {
		t.Error(got)
	}
}
