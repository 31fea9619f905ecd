package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
)

var errUserStop = errors.New("user stop")

// cancelOn ends the run's context at the first event whose line begins so.
func cancelOn(t *testing.T, b *bench, line string) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(background(t))
	b.tape.onEvent = func(Event) {
		b.tape.mu.Lock()
		defer b.tape.mu.Unlock()
		if strings.HasPrefix(b.tape.lines[len(b.tape.lines)-1], line) {
			cancel(errUserStop)
		}
	}
	return ctx, cancel
}

// innerTools are the fake tools as an inner surface.
type innerTools struct{ *fakeTools }

func (innerTools) Definitions() []tool.Definition {
	return []tool.Definition{{Name: "bash", Description: "runs"}, {Name: "read"}, {Name: "list_files"}, {Name: "write"}}
}

func scripted(code string) *bench {
	args, _ := json.Marshal(map[string]string{"code": code})
	b := newBench(says(callEvent("c1", "code_mode", string(args))), says(text("done")))
	b.cfg.Script = &Script{Tools: innerTools{b.tools}, Limits: script.Limits{SourceBytes: 65536, InnerCalls: 200, Runtime: time.Minute,
		MemoryBytes: 32 << 20, InnerResultBytes: 1 << 20, TotalResultBytes: 64 << 20, ReturnBytes: 1 << 18}}
	return b
}

func envelope(t *testing.T, b *bench) (e struct {
	Status, Error string
	Value         json.RawMessage
	Execution     script.Execution
}) {
	t.Helper()
	results := b.log.of(session.KindToolResult)
	if len(results) != 1 {
		t.Fatalf("%d outer results in %s", len(results), b.log.kinds())
	}
	content := results[0]["result"].(map[string]any)["content"].(string)
	if err := json.Unmarshal([]byte(content), &e); err != nil {
		t.Fatalf("%v in %s", err, content)
	}
	return e
}

func TestScriptTurn(t *testing.T) {
	b := scripted(`const r = tools.call("write", {path: "a", content: "x"}); const q = tools.call("read", {paths: ["b"]}); return [r.success, q.success]`)
	b.tools.run = func(c tool.Call) tool.Result {
		if c.Name == "read" {
			return tool.Failed("no such file")
		}
		return tool.Result{Success: true, Content: "wrote", Changed: []string{"/w/a"}}
	}
	if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	lines := []string{"input", "start c1 code_mode", "start c1:inner:1 write a", "finish c1:inner:1 ok=true", "start c1:inner:2 read 1 file",
		"finish c1:inner:2 ok=false", "finish c1 ok=true", `segment 0 "done" closed=false`}
	if d := cmp.Diff(lines, b.tape.lines); d != "" {
		t.Error(d)
	}
	want := "code_mode_tool_call code_mode_tool_result code_mode_tool_call code_mode_tool_result tool_result session_usage assistant_output"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	call := b.log.of(session.KindCodeModeToolCall)[1]
	if d := cmp.Diff(map[string]any{"id": "c1:inner:2", "name": "read", "arguments": map[string]any{"paths": []any{"b"}}, "parent_call_id": "c1", "sequence": 2.0}, call); d != "" {
		t.Error(d)
	}
	res := b.log.of(session.KindCodeModeToolResult)[0]
	if res["call_id"] != "c1:inner:1" || res["parent_call_id"] != "c1" || res["sequence"] != 1.0 || fmt.Sprint(res["changed_paths"]) != "[/w/a]" {
		t.Errorf("%v", res)
	}
	outer := b.log.of(session.KindToolResult)[0]
	if fmt.Sprint(outer["changed_paths"]) != "[/w/a]" || outer["result"].(map[string]any)["metadata"].(map[string]any)["code_mode_execution"] == nil {
		t.Errorf("%v", outer)
	}
	if e := envelope(t, b); e.Status != "completed" || string(e.Value) != "[true,false]" || e.Execution.RecoverableFailures != 1 {
		t.Errorf("%+v", e)
	}
	if b.log.syncs != 4 {
		t.Errorf("%d syncs, wanted input, outer call, write and answer", b.log.syncs)
	}
	var results []string
	for _, it := range b.prov.requests[1].Items {
		if it.Kind == provider.ItemResult || it.Kind == provider.ItemCall {
			results = append(results, it.CallID)
		}
	}
	if d := cmp.Diff([]string{"c1", "c1"}, results); d != "" {
		t.Errorf("the model sees more than the outer call: %s", d)
	}
}

func TestUnavailableInScripts(t *testing.T) {
	for _, name := range []string{"code_mode", "magi_control", "nothing"} {
		b := scripted(`const e = tools.call("` + name + `", {}).error.code; return [e, tools.call("shell", {command: "ls"}).success]`)
		if res := b.run(t, background(t)); res.Err != nil {
			t.Fatal(res.Err)
		}
		if e := envelope(t, b); string(e.Value) != `["unavailable_tool",true]` || e.Execution.InnerCalls != 2 || len(b.tools.calls) != 1 {
			t.Errorf("%s: %s, %d calls", name, e.Value, len(b.tools.calls))
		}
		p := b.log.of(session.KindCodeModeToolResult)[0]
		if p["sequence"] != 1.0 || p["execution_effects"] != nil || b.tape.lines[3] != "finish c1:inner:1 ok=false" {
			t.Errorf("%v %v", p, b.tape.lines)
		}
	}
}

// denyShell refuses every shell command and notes what it is asked.
type denyShell struct{ asked []string }

func (d *denyShell) Check(_ context.Context, env tool.Env, c tool.Call, _ func(string)) (Verdict, error) {
	d.asked = append(d.asked, c.Name+" "+env.CallID)
	return Verdict{Allowed: c.Name != "bash"}, nil
}

func TestDenialInAScript(t *testing.T) {
	b := scripted(`tools.call("write", {path: "a"}); try { tools.call("bash", {command: "rm"}) } catch (e) {} tools.call("write", {path: "b"})`)
	g := &denyShell{}
	b.cfg.Guard = g
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrDenied) {
		t.Fatal(res.Err)
	}
	want := "code_mode_tool_call code_mode_tool_result code_mode_tool_call code_mode_tool_result tool_result turn_status"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"code_mode c1", "write c1:inner:1", "bash c1:inner:2"}, g.asked); d != "" {
		t.Error(d)
	}
	if e := envelope(t, b); e.Status != "terminated" || e.Execution.Successful != 1 || e.Execution.UnknownOutcomes != 1 {
		t.Errorf("%+v", e)
	}
	if d := cmp.Diff([]string{"finish c1:inner:2 ok=false", "finish c1 ok=false"}, b.tape.lines[len(b.tape.lines)-2:]); d != "" {
		t.Error(d)
	}
}

func TestCancelInAScript(t *testing.T) {
	for name, code := range map[string]string{
		"in a tool":       `tools.call("bash", {}); tools.call("write", {})`,
		"in JavaScript":   `tools.call("read", {}); for (;;);`,
		"in a catch loop": `tools.call("read", {}); for (;;) { try { tools.call("write", {}); for (;;); } catch (e) {} }`,
	} {
		t.Run(name, func(t *testing.T) {
			b := scripted(code)
			ctx, cancel := cancelOn(t, b, "start c1:inner:1")
			defer cancel(nil)
			if res := b.run(t, ctx); !errors.Is(res.Err, errUserStop) || res.Degraded {
				t.Fatalf("%+v", res)
			}
			if e := envelope(t, b); e.Status != "terminated" {
				t.Errorf("%+v", e)
			}
			if got := b.log.of(session.KindTurnStatus); len(got) != 1 || got[0]["status"] != "cancelled" {
				t.Error(b.log.kinds())
			}
			for _, c := range b.tools.calls {
				if c.Name == "write" {
					t.Error("a call ran after the cancellation")
				}
			}
			open := 0
			for _, l := range b.tape.lines {
				open += strings.Count(l, "start ") - strings.Count(l, "finish ")
			}
			if open != 0 {
				t.Error(b.tape.lines)
			}
		})
	}
}

// TestLostRecordsEndScripts fails every append in turn: a run either completes
// or says that records were lost, and no tool runs whose call is not stored.
func TestLostRecordsEndScripts(t *testing.T) {
	for at := 1; ; at++ {
		b := scripted(`for (let i = 0; i < 3; i++) { try { tools.call("write", {i}) } catch (e) {} } return 1`)
		b.log.failAt = at
		res := b.run(t, background(t))
		if calls, stored := len(b.tools.calls), len(b.log.of(session.KindCodeModeToolCall)); calls > stored {
			t.Fatalf("append %d: %d calls ran, %d are stored", at, calls, stored)
		}
		if res.Err == nil && !res.Degraded {
			if at < 8 {
				t.Errorf("only %d appends", at)
			}
			return
		}
		if len(b.log.of(session.KindCodeModeToolCall)) < 3 && res.Err == nil {
			t.Errorf("append %d: the run went on without a record: %+v", at, res)
		}
	}
}

func TestHistoryBudgets(t *testing.T) {
	for kind, base := range map[script.Kind]int64{script.BatchHistoryLimit: 0, script.SessionHistoryLimit: maxSessionBytes - 3_000_000} {
		t.Run(string(kind), func(t *testing.T) {
			b := scripted(`for (let i = 0; i < 20; i++) tools.call("bash", {})`)
			stored := func() (n int64) {
				for _, r := range b.log.of(session.KindCodeModeToolResult) {
					n += int64(len(r["result"].(map[string]any)["content"].(string)))
				}
				return n
			}
			b.cfg.Script.Size = func() int64 { return base + stored() }
			b.tools.run = func(tool.Call) tool.Result {
				return tool.Result{Success: true, Content: strings.Repeat("x", 1_000_000)}
			}
			if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
				t.Fatalf("%+v", res)
			}
			e := envelope(t, b)
			if !strings.Contains(e.Error, string(kind)) || e.Execution.UnknownOutcomes != 1 || stored() > maxBatchBytes || base+stored() > maxSessionBytes {
				t.Errorf("%+v, %d bytes", e, stored())
			}
			if last := b.tape.lines[len(b.tape.lines)-2]; last != "finish c1 ok=false" {
				t.Error(b.tape.lines)
			}
		})
	}
	t.Run("a full session", func(t *testing.T) {
		b := scripted(`return [tools.budget().session_history_bytes.remaining, tools.call("bash", {})]`)
		b.cfg.Script.Size = func() int64 { return maxSessionBytes - 100 }
		if res := b.run(t, background(t)); res.Err != nil || len(b.tools.calls) != 0 {
			t.Fatalf("%+v, %d calls", res, len(b.tools.calls))
		}
		if e := envelope(t, b); !strings.Contains(e.Error, string(script.SessionHistoryLimit)) {
			t.Errorf("%+v", e)
		}
	})
}

func TestActivityBoundCountsInnerCalls(t *testing.T) {
	b := scripted(`for (let i = 0; i < 20; i++) tools.call("read", {})`)
	b.cfg.Limits.Activities = 10
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrContentLimit) {
		t.Errorf("%+v", res)
	}
}

func TestNudge(t *testing.T) {
	batch := func(names ...string) reply {
		var evs []provider.Event
		for i, n := range names {
			evs = append(evs, callEvent(fmt.Sprintf("%s%d", n, i), n, fmt.Sprintf(`{"n":%d}`, i)))
		}
		return says(evs...)
	}
	for name, row := range map[string]struct {
		names []string
		big   bool
		off   bool
		want  int
	}{
		"few":               {[]string{"read", "grep", "find", "read", "grep"}, false, false, 0},
		"six":               {[]string{"read", "grep", "find", "read", "grep", "mcp__a__b"}, false, false, 1},
		"four of one":       {[]string{"read", "read", "read", "read"}, false, false, 1},
		"large results":     {[]string{"read", "read"}, true, false, 1},
		"other tools":       {[]string{"bash", "bash", "bash", "bash", "bash", "bash", "bash"}, false, false, 0},
		"once":              {[]string{"read", "read", "read", "read", "read", "read", "read", "read", "read"}, false, false, 1},
		"switched off":      {[]string{"read", "read", "read", "read"}, false, true, 0},
		"code_mode is used": {[]string{"code_mode", "read", "read", "read", "read"}, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(batch(row.names...), says(text("done")))
			b.cfg.Script = &Script{Tools: innerTools{b.tools}, Nudge: !row.off}
			b.tools.run = func(c tool.Call) tool.Result {
				if row.big {
					return tool.Result{Success: true, Content: strings.Repeat("x", 40000)}
				}
				return tool.Result{Success: true, Content: string(c.Arguments)}
			}
			if res := b.run(t, background(t)); res.Err != nil {
				t.Fatal(res.Err)
			}
			items := b.log.of(session.KindProviderContextItem)
			if len(items) != row.want {
				t.Fatalf("%d hints", len(items))
			}
			if row.want == 1 && (items[0]["role"] != "user" || !strings.Contains(items[0]["content"].(string), "code_mode")) {
				t.Error(items[0])
			}
		})
	}
}

// TestScriptsAreOff: without Code Mode the name is a tool like any other.
func TestScriptsAreOff(t *testing.T) {
	b := scripted(`return 1`)
	b.cfg.Script = nil
	if res := b.run(t, background(t)); res.Err != nil || len(b.tools.calls) != 1 || b.tools.calls[0].Name != "code_mode" {
		t.Errorf("%+v %v", res, b.tools.calls)
	}
}

func TestScriptsThatGoNowhere(t *testing.T) {
	const args = `{"code":"return tools.call('read', {}).success"}`
	b := scripted("")
	b.prov.replies = nil
	for i := range maxRepeats + 5 {
		b.prov.replies = append(b.prov.replies, says(callEvent(fmt.Sprint("c", i), "code_mode", args)))
	}
	b.tools.run = func(tool.Call) tool.Result { return tool.Result{Success: true, Content: "same"} }
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrNoProgress) {
		t.Errorf("%+v", res)
	}
}
