package history_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"magicode/internal/history"
	"magicode/internal/session"
)

// record draws one record of a kind that shows something, mostly a valid one.
func record() *rapid.Generator[session.Record] {
	word := rapid.SampledFrom([]string{"", "a", "ab", "abc", "\n\n", "token=x1", "é\u2028", "\x1b[1m"})
	id := rapid.SampledFrom([]string{"1", "2", ""})
	return rapid.Custom(func(t *rapid.T) session.Record {
		p := map[string]any{"text": word.Draw(t, "text")}
		kind := rapid.SampledFrom([]session.Kind{
			session.KindUserInput, session.KindAssistantChunk, session.KindAssistantChunk, session.KindAssistantOutput,
			session.KindReasoningSummary, session.KindToolCall, session.KindToolResult, session.KindTurnStatus,
			session.KindDiagnostic, session.KindCompaction, session.KindSessionUsage, session.KindCodeModeWarning,
		}).Draw(t, "kind")
		switch kind {
		case session.KindUserInput:
			if o := rapid.SampledFrom([]string{"", "", "user", "provider_only"}).Draw(t, "origin"); o != "" {
				p["origin"] = o
			}
			p["auto_recovery"] = rapid.SampledFrom([]any{nil, true, false}).Draw(t, "auto")
		case session.KindAssistantOutput:
			if rapid.Bool().Draw(t, "legacy") {
				delete(p, "text")
			}
		case session.KindReasoningSummary:
			p["provider_summary"] = rapid.Bool().Draw(t, "provenance")
			p["item_id"] = rapid.SampledFrom([]any{nil, "i", "j"}).Draw(t, "item")
		case session.KindToolCall:
			p = map[string]any{"id": id.Draw(t, "id"), "name": "bash", "arguments": map[string]any{"command": word.Draw(t, "command")}}
		case session.KindToolResult:
			p = map[string]any{"call_id": id.Draw(t, "id"), "result": map[string]any{
				"tool_name": "bash", "success": rapid.Bool().Draw(t, "ok"), "content": "c", "metadata": nil}}
		case session.KindTurnStatus:
			p = map[string]any{"status": rapid.SampledFrom([]string{"incomplete", "cancelled", "failed", "complete"}).Draw(t, "status"),
				"assistant_text": word.Draw(t, "text"), "error_summary": word.Draw(t, "summary")}
		case session.KindDiagnostic:
			p = map[string]any{"message": word.Draw(t, "message")}
		case session.KindCompaction:
			p = map[string]any{"summary": word.Draw(t, "summary")}
		case session.KindCodeModeWarning:
			p = map[string]any{"warning": word.Draw(t, "warning")}
		}
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return session.Record{Kind: kind, Payload: raw}
	})
}

// TestIncrementalEqualsScratch: a snapshot taken on the way is the one that a
// fresh reading of the same records gives, and taking it changes nothing.
func TestIncrementalEqualsScratch(t *testing.T) {
	ids := cmpopts.IgnoreFields(entry{}, "MessageID")
	rapid.Check(t, func(rt *rapid.T) {
		recs := rapid.SliceOfN(record(), 0, 40).Draw(rt, "records")
		live := history.New(counter())
		for i, r := range recs {
			if err := live.Apply(r); err != nil {
				rt.Fatal(err)
			}
			got, gotComplete := entries(t, snapshot(t, live))
			want, complete := entries(t, snapshot(t, fold(t, recs[:i+1]...)))
			if d := cmp.Diff(want, got, ids, cmpopts.EquateEmpty()); d != "" || gotComplete != complete {
				rt.Fatalf("after %d records (complete %v, %v) (-scratch +live):\n%s", i+1, complete, gotComplete, d)
			}
			if d := cmp.Diff(naive(t, recs[:i+1]), joined(t, got), cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("after %d records (-naive +fold):\n%s", i+1, d)
			}
		}
	})
}

// FuzzFold: no record, however odd, brings the fold down, and its answer is
// entries or one of the three errors.
func FuzzFold(f *testing.F) {
	kinds := []session.Kind{
		session.KindUserInput, session.KindAssistantChunk, session.KindAssistantOutput, session.KindReasoningSummary,
		session.KindToolCall, session.KindToolResult, session.KindToolDisplayResult, session.KindCodeModeToolCall,
		session.KindCodeModeToolResult, session.KindTurnStatus, session.KindDiagnostic, session.KindHookDiagnostic,
		session.KindCodeModeWarning, session.KindCompaction, session.KindProviderContextItem, "future",
	}
	f.Add(byte(0), []byte(`{"text":"Q"}`), byte(4), []byte(`{"id":"1","name":"bash","arguments":{"command":"ls"}}`), byte(5), []byte(result("1", "bash", "true")))
	f.Add(byte(1), []byte(`{"text":"a"}`), byte(2), []byte(`{}`), byte(9), []byte(`{"status":"failed","error_summary":"e"}`))
	f.Add(byte(3), []byte(`{"text":"a","provider_summary":true,"item_id":"x"}`), byte(13), []byte(`{"summary":"s"}`), byte(12), []byte(`{"warning":"w"}`))
	f.Add(byte(0), []byte(`{"text":"\ud83d\ude00","auto_recovery":true}`), byte(10), []byte(`[1,{"message":"m"}]`), byte(15), []byte(`null`))
	f.Fuzz(func(t *testing.T, k1 byte, p1 []byte, k2 byte, p2 []byte, k3 byte, p3 []byte) {
		fold := history.New(counter())
		for _, r := range []session.Record{
			{Kind: kinds[int(k1)%len(kinds)], Payload: p1}, {Kind: kinds[int(k2)%len(kinds)], Payload: p2}, {Kind: kinds[int(k3)%len(kinds)], Payload: p3},
		} {
			if !accepted(r.Payload) {
				continue
			}
			if err := fold.Apply(r); err != nil {
				if !errors.Is(err, history.ErrInvalid) && !errors.Is(err, history.ErrLimit) {
					t.Fatal(err)
				}
				return
			}
			all, _ := entries(t, snapshot(t, fold))
			joined(t, all)
		}
	})
}
