package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTextTurn(t *testing.T) {
	b := newBench(says(text("Hello "), text("world."), usage(11, 7)))
	res := b.run(t, background(t))
	if res.Err != nil || !res.Persisted || res.Degraded {
		t.Fatalf("%+v", res)
	}
	if diff := cmp.Diff([]string{"input", `segment 0 "Hello world." closed=false`}, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	if got, want := b.log.kinds(), "user_input session_usage session_usage assistant_output"; got != want {
		t.Errorf("records %s, wanted %s", got, want)
	}
	if b.log.syncs != 2 {
		t.Errorf("%d syncs, wanted the input and the terminal record (decision 17)", b.log.syncs)
	}
	out := b.log.of(session.KindAssistantOutput)[0]
	if out["text"] != "Hello world." || out["usage"].(map[string]any)["input"] != 11.0 {
		t.Errorf("%v", out)
	}
	last := b.log.of(session.KindSessionUsage)[1]
	if last["id"] != "session-usage/run/primary/0" || last["final_usage"] != true {
		t.Errorf("%v", last)
	}
}

// TestShortReply: a reply that a provider counts as complete and that is not whole
// says so, on the wire and in the file.
func TestShortReply(t *testing.T) {
	for why, want := range map[string]string{provider.CutLength: "length limit", provider.CutFilter: "held a part"} {
		b := newBench(says(text("As long as it"), provider.Event{Kind: provider.EventCut, Text: why}))
		if res := b.run(t, background(t)); res.Err != nil || !res.Persisted || b.log.syncs != 2 {
			t.Fatalf("%s: %+v, %d syncs", why, res, b.log.syncs)
		}
		if n := len(b.tape.lines); n != 3 || b.tape.lines[2] != "notice" {
			t.Errorf("%s: %q", why, b.tape.lines)
		}
		if got := b.log.kinds(); got != "user_input session_usage assistant_chunk diagnostic assistant_output" {
			t.Errorf("%s: records %s", why, got)
		}
		if d := b.log.of(session.KindDiagnostic)[0]; d["level"] != "warning" || !strings.Contains(d["message"].(string), want) {
			t.Errorf("%s: %v", why, d)
		}
	}
}

func TestToolTurn(t *testing.T) {
	b := newBench(says(text("Before. "), callEvent("c1", "list_files", `{"path":"."}`)), says(text("After.")))
	res := b.run(t, background(t))
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	want := []string{"input", `segment 0 "Before. " closed=true`, "start c1 list_files .", "finish c1 ok=true", `segment 1 "After." closed=false`}
	if diff := cmp.Diff(want, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	kinds := "user_input session_usage assistant_chunk provider_response_item tool_call tool_result session_usage assistant_output"
	if got := b.log.kinds(); got != kinds {
		t.Errorf("records %s\nwanted  %s", got, kinds)
	}
	if b.log.syncs != 3 {
		t.Errorf("%d syncs, wanted input, call and answer", b.log.syncs)
	}
	var items []string
	for _, it := range b.prov.requests[1].Items {
		items = append(items, fmt.Sprintf("%d %s%s%s", it.Kind, it.Role, it.Name, it.Text))
	}
	if diff := cmp.Diff([]string{"0 systemSYSTEM", "0 userthe question", "0 assistantBefore. ", "2 list_files", "3 list_filesok c1"}, items); diff != "" {
		t.Error(diff)
	}
}

func TestCallIDsBecomeUnique(t *testing.T) {
	b := newBench(says(callEvent("x", "a", `{}`), callEvent("", "b", `{}`)), says(callEvent("x", "c", `{}`)), says(text("ok")))
	b.cfg.HasCallID = func(id string) bool { return id == "old" }
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	seen := map[string]bool{}
	for _, c := range b.log.of(session.KindToolCall) {
		id := c["id"].(string)
		if id == "" || seen[id] {
			t.Errorf("id %q is blank or repeated", id)
		}
		seen[id] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d calls", len(seen))
	}
}

func TestIdenticalCallRunsOnceAndBothAreAnswered(t *testing.T) {
	b := newBench(says(callEvent("one", "bash", `{"command":"x", "intent":"y"}`), callEvent("two", "bash", `{"intent":"y","command":"x"}`)), says(text("ok")))
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	if len(b.tools.calls) != 1 {
		t.Errorf("%d effects", len(b.tools.calls))
	}
	var answered []string
	for _, it := range b.prov.requests[1].Items {
		if it.Kind == provider.ItemResult {
			answered = append(answered, it.CallID)
		}
	}
	if diff := cmp.Diff([]string{"one", "two"}, answered); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenArguments(t *testing.T) {
	t.Run("go on", func(t *testing.T) {
		b := newBench(says(callEvent("c", "read", "{not json")), says(text("recovered")))
		if res := b.run(t, background(t)); res.Err != nil || len(b.tools.calls) != 0 {
			t.Fatalf("%v, %d effects", res.Err, len(b.tools.calls))
		}
		if got := b.log.of(session.KindToolCall)[0]["arguments"]; got != "{not json" {
			t.Errorf("stored %v", got)
		}
	})
	t.Run("three in a row", func(t *testing.T) {
		b := newBench(says(callEvent("c", "read", "{not json")))
		res := b.run(t, background(t))
		if !errors.Is(res.Err, ErrBrokenCalls) || len(b.prov.requests) != 3 || len(b.log.of(session.KindToolResult)) != 3 {
			t.Errorf("%v after %d requests", res.Err, len(b.prov.requests))
		}
	})
	t.Run("a good one between", func(t *testing.T) {
		bad := says(callEvent("c", "read", "{"))
		b := newBench(bad, bad, says(callEvent("c", "read", "{}")), bad, bad, says(text("ok")))
		if res := b.run(t, background(t)); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

func TestLoopsThatGoNowhere(t *testing.T) {
	t.Run("same result", func(t *testing.T) {
		b := newBench(says(callEvent("c", "list_files", `{"path":"."}`)))
		b.tools.run = func(c tool.Call) tool.Result { return tool.Result{ToolName: c.Name, Success: true, Content: "same"} }
		res := b.run(t, background(t))
		if !errors.Is(res.Err, ErrNoProgress) || len(b.prov.requests) != maxRepeats {
			t.Errorf("%v after %d requests", res.Err, len(b.prov.requests))
		}
		if hints := b.log.of(session.KindProviderContextItem); len(hints) != 1 {
			t.Errorf("%d hints", len(hints))
		}
	})
	t.Run("a poll whose output changes", func(t *testing.T) {
		replies := make([]reply, 0, 41)
		for range 40 {
			replies = append(replies, says(callEvent("c", "bash", `{"command":"wc"}`)))
		}
		b := newBench(append(replies, says(text("ok")))...)
		if res := b.run(t, background(t)); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

func TestBrokenStreamContinuesOnceInANewSegment(t *testing.T) {
	broken := &provider.Error{Kind: provider.ErrIncomplete, Err: errors.New("the stream ended early")}
	b := newBench(breaks(broken, text("first half ")), says(text("second half")))
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	want := []string{"input", `segment 0 "first half " closed=true`, "notice", "notice", `segment 1 "second half" closed=false`}
	if diff := cmp.Diff(want, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	last := b.prov.requests[1].Items
	if got := last[len(last)-1]; got.Role != "user" || got.Text != "Continue" {
		t.Errorf("%+v", got)
	}

	b = newBench(breaks(broken, text("a")), breaks(broken, text("b")))
	if res := b.run(t, background(t)); !errors.Is(res.Err, broken) || len(b.prov.requests) != 2 {
		t.Errorf("%v after %d requests", res.Err, len(b.prov.requests))
	}
}

func TestReasoningOnlyIsAskedOnce(t *testing.T) {
	think := provider.Event{Kind: provider.EventReasoningDone, Text: "hm", ProviderSummary: true}
	b := newBench(says(think), says(think))
	if res := b.run(t, background(t)); res.Err != nil || len(b.prov.requests) != 2 {
		t.Fatalf("%v after %d requests", res.Err, len(b.prov.requests))
	}
	if in := b.log.of(session.KindUserInput); len(in) != 2 || in[1]["auto_recovery"] != true {
		t.Errorf("%v", in)
	}
	if got := b.log.of(session.KindReasoningSummary)[0]; got["item_id"] != "legacy-0-1" || got["turn_id"] != "0" {
		t.Errorf("%v", got)
	}
	if out := b.log.of(session.KindAssistantOutput); len(out) != 1 || out[0]["text"] != "" {
		t.Errorf("%v", out)
	}
}

func TestFailureKeepsTheText(t *testing.T) {
	b := newBench(breaks(errors.New("status 400"), text("partial ")))
	res := b.run(t, background(t))
	if res.Err == nil || !res.Persisted || res.Degraded {
		t.Fatalf("%+v", res)
	}
	st := b.log.of(session.KindTurnStatus)
	if len(st) != 1 || st[0]["status"] != "failed" || st[0]["error_summary"] != "status 400" || st[0]["assistant_text"] != "partial " {
		t.Errorf("%v", st)
	}
	if diff := cmp.Diff([]string{"input", `segment 0 "partial " closed=true`}, b.tape.lines); diff != "" {
		t.Error(diff)
	}
}

func TestCancellation(t *testing.T) {
	errUser := errors.New("the user stopped it")
	for name, stop := range map[string]func(b *bench, cancel func()){
		"while streaming": func(b *bench, cancel func()) {
			b.prov.replies = []reply{func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
				_ = emit(text("partial "))
				cancel()
				<-ctx.Done()
				return context.Cause(ctx)
			}}
		},
		"inside a tool": func(b *bench, cancel func()) {
			b.prov.replies = []reply{says(text("partial "), callEvent("c", "bash", `{}`)), says(text("never"))}
			b.tools.run = func(c tool.Call) tool.Result { cancel(); return tool.Result{ToolName: c.Name, Content: "cancelled"} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			ctx, cancel := context.WithCancelCause(background(t))
			stop(b, func() { cancel(errUser) })
			res := b.run(t, ctx)
			if !errors.Is(res.Err, errUser) || !res.Persisted {
				t.Errorf("%+v", res)
			}
			if st := b.log.of(session.KindTurnStatus); len(st) != 1 || st[0]["status"] != "cancelled" || st[0]["error_summary"] != nil {
				t.Errorf("%v", st)
			}
			if !strings.Contains(strings.Join(b.tape.lines, "\n"), `segment 0 "partial " closed=true`) {
				t.Errorf("%v", b.tape.lines)
			}
		})
	}
	t.Run("before the input", func(t *testing.T) {
		b := newBench(says(text("never")))
		ctx, cancel := context.WithCancelCause(background(t))
		cancel(errUser)
		if res := b.run(t, ctx); res.Persisted || !errors.Is(res.Err, errUser) || b.log.appends != 0 {
			t.Errorf("%+v %d", res, b.log.appends)
		}
	})
}

type guard struct {
	verdict Verdict
	err     error
	warning string
}

func (g guard) Check(_ context.Context, _ tool.Env, _ tool.Call, warn func(string)) (Verdict, error) {
	if g.warning != "" {
		warn(g.warning)
	}
	return g.verdict, g.err
}

func TestDenialEndsTheRun(t *testing.T) {
	b := newBench(says(callEvent("c", "bash", `{"command":"x"}`), callEvent("d", "bash", `{"command":"y"}`)), says(text("never")))
	b.cfg.Guard = guard{}
	res := b.run(t, background(t))
	if !errors.Is(res.Err, ErrDenied) || len(b.tools.calls) != 0 || len(b.prov.requests) != 1 {
		t.Fatalf("%v %d effects", res.Err, len(b.tools.calls))
	}
	if diff := cmp.Diff([]string{"input", "start c bash x", "finish c ok=false"}, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	got := b.log.of(session.KindToolResult)[0]
	if got["changed_paths"] != nil || got["result"].(map[string]any)["metadata"].(map[string]any)["bash_protection_denied"] != true {
		t.Errorf("%v", got)
	}
}

// TestGuardWarns: an assessment that failed is told and recorded before the tool runs.
func TestGuardWarns(t *testing.T) {
	b := newBench(says(callEvent("c", "bash", `{"command":"x"}`)), says(text("done")))
	b.cfg.Guard = guard{verdict: Verdict{Allowed: true}, warning: "the service failed"}
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	want := []string{"input", "start c bash x", "notice", "finish c ok=true"}
	if diff := cmp.Diff(want, b.tape.lines[:4]); diff != "" {
		t.Error(diff)
	}
	if got := b.log.of(session.KindDiagnostic); len(got) != 1 || got[0]["message"] != "the service failed" || got[0]["level"] != "warning" {
		t.Errorf("%v", got)
	}
}

// TestDiagnostics: what is said of changed files stands behind the results of
// edits that succeeded, for the model and in the file.
func TestDiagnostics(t *testing.T) {
	for name, c := range map[string]struct {
		tool string
		res  tool.Result
		want string
	}{
		"write":            {"write", tool.Result{Success: true, Content: "wrote", Changed: []string{"/w/a"}}, "wrote\n\nfound in [/w/a] below /w"},
		"hash_edit":        {"hash_edit", tool.Result{Success: true, Content: "applied", Changed: []string{"/w/a", "/w/b"}}, "applied\n\nfound in [/w/a /w/b] below /w"},
		"failed":           {"write", tool.Result{Content: "no", Changed: []string{"/w/a"}}, "no"},
		"nothing changed":  {"write", tool.Result{Success: true, Content: "same"}, "same"},
		"no edit":          {"subagents", tool.Result{Success: true, Content: "done", Changed: []string{"/w/a"}}, "done"},
		"nothing is wrong": {"write", tool.Result{Success: true, Content: "wrote", Changed: []string{"/w/fine"}}, "wrote"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(says(callEvent("c", c.tool, `{}`)), says(text("done")))
			b.cfg.Env.CanonicalCwd = "/w"
			b.tools.run = func(tool.Call) tool.Result { return c.res }
			b.cfg.Diagnose = func(_ context.Context, root string, changed []string) string {
				if changed[0] == "/w/fine" {
					return ""
				}
				return fmt.Sprintf("found in %v below %s", changed, root)
			}
			if res := b.run(t, background(t)); res.Err != nil {
				t.Fatal(res.Err)
			}
			items := b.prov.requests[1].Items
			stored := b.log.of(session.KindToolResult)[0]["result"].(map[string]any)["content"]
			if got := items[len(items)-1].Text; got != c.want || stored != c.want {
				t.Errorf("sent %q, stored %q", got, stored)
			}
		})
	}
}

// TestUnjudgedSaysWhy: nobody was asked, and the model is not told that somebody was.
func TestUnjudgedSaysWhy(t *testing.T) {
	b := newBench(says(callEvent("c", "bash", `{"command":"x"}`)))
	b.cfg.Guard = guard{verdict: Verdict{Unjudged: true}}
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrDenied) {
		t.Fatal(res.Err)
	}
	if got := b.log.of(session.KindToolResult)[0]["result"].(map[string]any)["content"]; got != "This command was not run: it could not be judged, and the settings deny what cannot be judged." {
		t.Error(got)
	}
}

func TestCancelledApprovalEndsItsActivity(t *testing.T) {
	b := newBench(says(callEvent("c", "bash", `{"command":"x"}`)))
	ctx, cancel := context.WithCancelCause(background(t))
	stop := errors.New("stop")
	b.tape.onEvent = func(ev Event) {
		if _, ok := ev.(ActivityStarted); ok {
			cancel(stop)
		}
	}
	b.cfg.Guard = guard{err: stop}
	if res := b.run(t, ctx); !errors.Is(res.Err, stop) {
		t.Error(res.Err)
	}
	if diff := cmp.Diff([]string{"input", "start c bash x", "finish c ok=false"}, b.tape.lines); diff != "" {
		t.Error(diff)
	}
}

func TestLostRecords(t *testing.T) {
	t.Run("the input", func(t *testing.T) {
		b := newBench(says(text("never")))
		b.log.failAt = 1
		res := b.run(t, background(t))
		if !errors.Is(res.Err, ErrInputAppend) || res.Persisted || len(b.prov.requests) != 0 || len(b.tape.lines) != 0 {
			t.Errorf("%+v %v", res, b.tape.lines)
		}
	})
	t.Run("the answer", func(t *testing.T) {
		b := newBench(says(text("shown")))
		b.log.failAt = 2
		if res := b.run(t, background(t)); res.Err != nil || !res.Degraded || !res.Persisted {
			t.Errorf("%+v", res)
		}
		if b.tape.lines[len(b.tape.lines)-1] != "notice" {
			t.Errorf("%v", b.tape.lines)
		}
	})
	t.Run("a call", func(t *testing.T) {
		b := newBench(says(callEvent("c", "bash", `{}`)))
		b.log.failAt = 2
		if res := b.run(t, background(t)); !errors.Is(res.Err, ErrRecord) || len(b.tools.calls) != 0 {
			t.Errorf("%+v, %d effects", res, len(b.tools.calls))
		}
	})
}

func TestLimits(t *testing.T) {
	toolReply := says(text("s "), callEvent("c", "x", `{}`))
	for name, c := range map[string]struct {
		limits Limits
		reply  reply
	}{
		"content":    {Limits{ContentBytes: 10, Segments: 9, Activities: 9, ActivityIDBytes: 99}, says(text("12345"), text("678901"))},
		"segments":   {Limits{ContentBytes: 999, Segments: 2, Activities: 99, ActivityIDBytes: 99}, toolReply},
		"activities": {Limits{ContentBytes: 999, Segments: 99, Activities: 3, ActivityIDBytes: 99}, toolReply},
		"id":         {Limits{ContentBytes: 999, Segments: 99, Activities: 3, ActivityIDBytes: 3}, says(callEvent("four", "x", `{}`))},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(c.reply)
			b.cfg.Limits = c.limits
			res := b.run(t, background(t))
			if !errors.Is(res.Err, ErrContentLimit) || !res.Persisted || res.Degraded {
				t.Errorf("%+v", res)
			}
			if st := b.log.of(session.KindTurnStatus); len(st) != 1 || st[0]["status"] != "failed" {
				t.Errorf("%v", st)
			}
		})
	}
}

// TestStoredTextKeepsUp: what was sent is in the file a second later, or 4 KiB
// later, although the stream goes on (decision 15).
func TestStoredTextKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log *fakeLog
		b := newBench(func(ctx context.Context, _ provider.Request, emit func(provider.Event) error) error {
			_ = emit(text("slow text. "))
			time.Sleep(1100 * time.Millisecond)
			if got := log.of(session.KindAssistantChunk); len(got) != 1 || got[0]["text"] != "slow text. " {
				t.Errorf("after a second: %v", got)
			}
			_ = emit(text(strings.Repeat("many words ", 400)))
			if got := log.of(session.KindAssistantChunk); len(got) != 2 {
				t.Errorf("after 4 KiB: %d chunks", len(got))
			}
			return nil
		})
		log = b.log
		if res := Run(t.Context(), b.cfg, "q"); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

// TestRefusedTextIsOfferedAgain: text that found no room goes out by itself
// once there is room, without waiting for more of it (decision 31).
func TestRefusedTextIsOfferedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tp *tape
		b := newBench(func(ctx context.Context, _ provider.Request, emit func(provider.Event) error) error {
			tp.mu.Lock()
			tp.full = true
			tp.mu.Unlock()
			_ = emit(text("waiting words and more. "))
			tp.mu.Lock()
			tp.full = false
			tp.mu.Unlock()
			time.Sleep(10 * retryDelay)
			tp.mu.Lock()
			defer tp.mu.Unlock()
			if !strings.HasPrefix(tp.deltas[0], "waiting words") {
				t.Errorf("deltas %q", tp.deltas[0])
			}
			return nil
		})
		tp = b.tape
		if res := Run(t.Context(), b.cfg, "q"); res.Err != nil {
			t.Error(res.Err)
		}
	})
}
