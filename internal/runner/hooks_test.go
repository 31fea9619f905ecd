//go:build linux || darwin

package runner

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/config"
	"magicode/internal/hook"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

func command(c string, p config.HookPolicy, inject bool) []config.Hook {
	return []config.Hook{{Label: "h", Command: c, HookOptions: config.HookOptions{Payload: config.PayloadRedacted, Policy: p, TimeoutSeconds: 5,
		StdoutMaxBytes: 8192, StderrMaxBytes: 8192, ContextInjection: inject, ContextMaxBytes: 4096}}}
}

func (b *bench) hook(t *testing.T, s config.Hooks) {
	t.Helper()
	s.Enabled = true
	b.cfg.Hooks = hook.New(hook.Options{Settings: s, Shell: tool.ShellPolicy{AbsolutePaths: true, ShellExpansion: true}, FS: vfs.OS(), Temp: t.TempDir(),
		Environ: os.Environ(), NewID: b.cfg.NewID, Context: hook.Context{Cwd: t.TempDir(), Turn: 1}})
}

const sayContext = `echo '{"context_items":[{"role":"user","content":"mind this"}]}'`

func toolTurn() *bench {
	return newBench(says(callEvent("c1", "bash", `{"command":"ls"}`)), says(text("done")))
}

func TestHookRecordsAreInOrder(t *testing.T) {
	b := toolTurn()
	b.hook(t, config.Hooks{BeforeTool: command("true", config.PolicyWarn, false), AfterTool: command(sayContext, config.PolicyWarn, true)})
	if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	want := "hook_lifecycle hook_lifecycle tool_result hook_lifecycle hook_lifecycle hook_context_injection provider_context_item session_usage assistant_output"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"role": "user", "content": "mind this"}, b.log.of(session.KindProviderContextItem)[0]); d != "" {
		t.Error(d)
	}
	items := b.prov.requests[1].Items
	if last, result := items[len(items)-1], items[len(items)-2]; last.Role != "user" || last.Text != "mind this" || result.Kind != provider.ItemResult {
		t.Errorf("%+v behind %+v", last, result)
	}
	if d := cmp.Diff([]string{"input", "start c1 bash ls", "finish c1 ok=true", `segment 0 "done" closed=false`}, b.tape.lines); d != "" {
		t.Error(d)
	}
}

func TestHookPolicies(t *testing.T) {
	for name, row := range map[string]struct {
		hooks  func(string, config.HookPolicy) config.Hooks
		policy config.HookPolicy
		err    error
		ran    bool
		lines  []string
		behind string
	}{
		"block": {before, config.PolicyBlock, nil, false, []string{"input", "start c1 bash ls", "notice", "finish c1 ok=false", `segment 0 "done" closed=false`},
			"hook_lifecycle hook_lifecycle hook_diagnostic tool_result session_usage assistant_output"},
		"fail before": {before, config.PolicyFail, ErrHook, false, []string{"input", "start c1 bash ls", "notice", "finish c1 ok=false"},
			"hook_lifecycle hook_lifecycle hook_diagnostic tool_display_result turn_status"},
		"warn before": {before, config.PolicyWarn, nil, true, []string{"input", "start c1 bash ls", "notice", "finish c1 ok=true", `segment 0 "done" closed=false`},
			"hook_lifecycle hook_lifecycle hook_diagnostic tool_result session_usage assistant_output"},
		"ignore before": {before, config.PolicyIgnore, nil, true, []string{"input", "start c1 bash ls", "finish c1 ok=true", `segment 0 "done" closed=false`},
			"hook_lifecycle hook_lifecycle tool_result session_usage assistant_output"},
		"fail after": {after, config.PolicyFail, ErrHook, true, []string{"input", "start c1 bash ls", "notice", "finish c1 ok=true"},
			"tool_result hook_lifecycle hook_lifecycle hook_diagnostic turn_status"},
		"warn after": {after, config.PolicyWarn, nil, true, []string{"input", "start c1 bash ls", "notice", "finish c1 ok=true", `segment 0 "done" closed=false`},
			"tool_result hook_lifecycle hook_lifecycle hook_diagnostic session_usage assistant_output"},
		"fail behind the answer": {behindAnswer, config.PolicyFail, ErrHook, true, []string{"input", "start c1 bash ls", "finish c1 ok=true", `segment 0 "done" closed=false`, "notice"},
			"tool_result session_usage assistant_output hook_lifecycle hook_lifecycle hook_diagnostic turn_status"},
	} {
		t.Run(name, func(t *testing.T) {
			b := toolTurn()
			b.hook(t, row.hooks("exit 1", row.policy))
			res := b.run(t, background(t))
			if !errors.Is(res.Err, row.err) || (res.Err == nil) != (row.err == nil) || (len(b.tools.calls) == 1) != row.ran {
				t.Errorf("%v, %d calls", res.Err, len(b.tools.calls))
			}
			if d := cmp.Diff(row.lines, b.tape.lines); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(row.behind, b.log.behind(session.KindToolCall)); d != "" {
				t.Error(d)
			}
		})
	}
}

func before(c string, p config.HookPolicy) config.Hooks {
	return config.Hooks{BeforeTool: command(c, p, false)}
}
func after(c string, p config.HookPolicy) config.Hooks {
	return config.Hooks{AfterTool: command(c, p, false)}
}
func behindAnswer(c string, p config.HookPolicy) config.Hooks {
	return config.Hooks{AfterText: command(c, p, false)}
}

func TestBlockedResultHasNoEffects(t *testing.T) {
	b := toolTurn()
	b.hook(t, before("exit 1", config.PolicyBlock))
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	p := b.log.of(session.KindToolResult)[0]
	r := p["result"].(map[string]any)
	if p["changed_paths"] != nil || p["execution_effects"] != nil || r["success"] != false || r["metadata"].(map[string]any)["hook_blocked"] != true ||
		!strings.Contains(r["content"].(string), "bash") || !strings.Contains(r["content"].(string), "exit") {
		t.Errorf("%v", p)
	}
}

func TestMessageHooks(t *testing.T) {
	b := newBench(says(provider.Event{Kind: provider.EventReasoningDone, Text: "I think", ProviderSummary: true},
		provider.Event{Kind: provider.EventReasoningDone, Text: "private"}, callEvent("c1", "a", `{}`)), says(text("done")))
	b.hook(t, config.Hooks{AfterThink: command(sayContext, config.PolicyWarn, true), AfterText: command(sayContext, config.PolicyWarn, true)})
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	want := "reasoning_summary hook_lifecycle hook_lifecycle hook_context_injection provider_context_item provider_response_item tool_call tool_result " +
		"session_usage assistant_output hook_lifecycle hook_lifecycle hook_context_injection provider_context_item"
	if d := cmp.Diff(want, b.log.behind(session.KindReasoningSummary)); d != "" {
		t.Error(d)
	}
	n := 0
	for _, it := range b.prov.requests[1].Items {
		if it.Text == "mind this" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the context stands %d times in the next request", n)
	}
}

func TestCancelInAHook(t *testing.T) {
	b := toolTurn()
	b.hook(t, before("sleep 60", config.PolicyIgnore))
	ctx, cancel := cancelOn(t, b, "start c1")
	defer cancel(nil)
	if res := b.run(t, ctx); !errors.Is(res.Err, errUserStop) || len(b.tools.calls) != 0 {
		t.Errorf("%v, %d calls", res.Err, len(b.tools.calls))
	}
	if len(b.log.of(session.KindToolResult)) != 0 || b.log.of(session.KindTurnStatus)[0]["status"] != "cancelled" {
		t.Error(b.log.kinds())
	}
	if last := b.tape.lines[len(b.tape.lines)-1]; last != "finish c1 ok=false" {
		t.Error(b.tape.lines)
	}
}

func TestHooksInAScript(t *testing.T) {
	b := scripted(`return [tools.call("read", {}).success, tools.call("write", {}).success]`)
	hooks := config.Hooks{BeforeTool: command("exit 1", config.PolicyBlock, false), AfterTool: command(sayContext, config.PolicyWarn, true)}
	hooks.BeforeTool[0].IncludeTools = []string{"write"}
	hooks.AfterTool[0].IncludeTools = []string{"read"}
	b.hook(t, hooks)
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	want := "code_mode_tool_call code_mode_tool_result hook_lifecycle hook_lifecycle hook_context_injection code_mode_context " +
		"code_mode_tool_call hook_lifecycle hook_lifecycle hook_diagnostic code_mode_tool_result tool_result provider_context_item session_usage assistant_output"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	ctx := map[string]any{"role": "user", "content": "mind this", "parent_call_id": "c1", "sequence": 1.0, "code_mode_context_id": "c1:context:0"}
	if d := cmp.Diff(ctx, b.log.of(session.KindCodeModeContext)[0]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(ctx, b.log.of(session.KindProviderContextItem)[0]); d != "" {
		t.Error(d)
	}
	if e := envelope(t, b); string(e.Value) != "[true,false]" {
		t.Errorf("%+v", e)
	}
}

func TestHookFailureInAScript(t *testing.T) {
	b := scripted(`try { tools.call("write", {}) } catch (e) {} tools.call("read", {})`)
	hooks := before("exit 1", config.PolicyFail)
	hooks.BeforeTool[0].IncludeTools = []string{"write"}
	b.hook(t, hooks)
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrHook) || len(b.tools.calls) != 0 {
		t.Errorf("%v, %d calls", res.Err, len(b.tools.calls))
	}
	want := "code_mode_tool_call hook_lifecycle hook_lifecycle hook_diagnostic tool_display_result tool_result turn_status"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
}
