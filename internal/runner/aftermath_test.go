package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/session"
)

func trace(s string) provider.Event {
	return provider.Event{Kind: provider.EventTrace, Raw: json.RawMessage(s)}
}

func reasoning(s string) provider.Event {
	return provider.Event{Kind: provider.EventRawReasoning, Text: s}
}

// TestAftermath: what stands behind the terminal status of a run whose request
// failed, and what does not (runner.md 16.3).
func TestAftermath(t *testing.T) {
	broken := &provider.Error{Kind: provider.ErrStreamFailed, Err: errors.New("broke")}
	progress := provider.Event{Kind: provider.EventToolProgress}
	record := trace(`{"schema_version":1,"pending_tools":[{"name":"read"}]}`)
	long := strings.Repeat("é", maxPreviewChars+10)
	for _, c := range []struct {
		name   string
		events []provider.Event
		kinds  string // behind the status
		abort  map[string]any
	}{
		{"text alone", []provider.Event{text("so far")}, "", nil},
		{"reasoning", []provider.Event{reasoning("private"), reasoning(" thought")}, " abort_recovery",
			map[string]any{"observed_reasoning_delta": true, "unsafe_tool_call_progress": false, "reasoning_preview": "private thought"}},
		{"a summary", []provider.Event{{Kind: provider.EventSummaryDelta, Text: "sum"}}, " abort_recovery",
			map[string]any{"observed_reasoning_delta": true, "unsafe_tool_call_progress": false, "reasoning_preview": "sum"}},
		{"half a call", []provider.Event{progress}, " abort_recovery", map[string]any{"observed_reasoning_delta": false, "unsafe_tool_call_progress": true}},
		{"a whole call that never ran", []provider.Event{callEvent("a", "read", "{}")}, " abort_recovery", map[string]any{"observed_reasoning_delta": false, "unsafe_tool_call_progress": true}},
		{"a parser's record", []provider.Event{progress, record}, " provider_stream_trace abort_recovery", map[string]any{"observed_reasoning_delta": false, "unsafe_tool_call_progress": true}},
		{"a record that is too large", []provider.Event{text("x"), trace(`{"a":"` + strings.Repeat("x", maxTraceBytes) + `"}`)}, "", nil},
		{"long reasoning", []provider.Event{reasoning(long)}, " abort_recovery",
			map[string]any{"observed_reasoning_delta": true, "unsafe_tool_call_progress": false, "reasoning_preview": long[:2*maxPreviewChars]}},
		{"a secret in reasoning", []provider.Event{reasoning("use pass"), reasoning("word: hunter2hunter2 now")}, " abort_recovery",
			map[string]any{"observed_reasoning_delta": true, "unsafe_tool_call_progress": false, "reasoning_preview": "use password: <redacted> now"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(breaks(broken, c.events...))
			b.run(t, background(t))
			_, behind, _ := strings.Cut(b.log.kinds(), "turn_status")
			if behind != c.kinds {
				t.Errorf("behind the status: %q, want %q", behind, c.kinds)
			}
			var got map[string]any
			if all := b.log.of(session.KindAbortRecovery); len(all) > 0 {
				got = all[0]
			}
			if diff := cmp.Diff(c.abort, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAftermathOfCancellation: a cancelled run says the same.
func TestAftermathOfCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(background(t))
	b := newBench(func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
		if err := emit(reasoning("hm")); err != nil {
			return err
		}
		cancel()
		return context.Cause(ctx)
	})
	b.run(t, ctx)
	if !strings.HasSuffix(b.log.kinds(), "turn_status abort_recovery") || b.log.of(session.KindTurnStatus)[0]["status"] != "cancelled" {
		t.Error(b.log.kinds())
	}
}

// TestNoAftermathBetweenRequests: a run that fails in a tool left no response behind.
func TestNoAftermathBetweenRequests(t *testing.T) {
	b := newBench(says(reasoning("hm"), callEvent("a", "bash", "{}")))
	b.cfg.Limits.Activities = 0
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrContentLimit) {
		t.Fatal(res.Err)
	}
	if !strings.HasSuffix(b.log.kinds(), "turn_status") {
		t.Error(b.log.kinds())
	}
}

// TestTraceOfAContinuedStream: the record of a stream that was continued is
// kept as well, and nothing is called lost.
func TestTraceOfAContinuedStream(t *testing.T) {
	b := newBench(breaks(&provider.Error{Kind: provider.ErrIncomplete, Err: errors.New("cut")}, text("one "), trace(`{"schema_version":1}`)), says(text("two")))
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	if n := len(b.log.of(session.KindProviderStreamTrace)); n != 1 {
		t.Errorf("%d traces", n)
	}
	if n := len(b.log.of(session.KindAbortRecovery)); n != 0 {
		t.Errorf("%d abort records", n)
	}
}

// TestRepeatedItemsKeepTheirForm: whatever a later request repeats has a place
// for its serialized form, the same one each time.
func TestRepeatedItemsKeepTheirForm(t *testing.T) {
	b := newBench(says(text("Before."), provider.Event{Kind: provider.EventItem, Raw: json.RawMessage(`{"type":"reasoning"}`)}, callEvent("a", "read", "{}")),
		says(callEvent("b", "read", `{"x":1}`)), says(text("done")))
	b.run(t, background(t))
	last := b.prov.requests[2].Items
	for n, req := range b.prov.requests {
		for i, it := range req.Items {
			if it.Cache == nil || it.Cache != last[i].Cache {
				t.Errorf("request %d, item %d (%s %s): no place, or another one", n, i, it.Role, it.Name)
			}
		}
	}
}
