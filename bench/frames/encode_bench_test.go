package frames

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"magicode/internal/event"
	"magicode/internal/jsonscan"
	"magicode/internal/server"
	"magicode/pkg/localagent"
)

const (
	runID     = "9f6cbb06-49a5-4ac6-b273-0a7a4c2e4a1f"
	messageID = "0c3f7b54-0f0e-4a39-8a06-5d3ad4a3b1c7"
)

// BenchmarkFrameEncode appends whole output frames to a buffer that is used
// again, as the server does: the seven events, responses, and a page of 32 KiB.
func BenchmarkFrameEncode(b *testing.B) {
	env := server.NewEnvelope("4b1f0f3c-5f0e-4d0e-9b5f-0f5d3c1a2b3c")
	ref := event.NewRef("6a1d9a52-8a54-4bb2-9a5c-3f8f6b7d8e9f", runID)
	for _, escape := range []string{"none", "heavy"} {
		text := func(n int) string {
			if escape == "none" {
				return strings.Repeat("plain words. ", n/13)
			}
			return strings.Repeat("\"q\"\n\t\\ \u2028", n/10)
		}
		live, summary := text(localagent.MaxLiveTextBytes), text(localagent.MaxSummaryBytes)
		items := map[string]event.Item{
			"input.persisted":    event.Of(event.InputPersisted{MessageID: messageID, Revision: runID}),
			"message.delta":      event.OfDelta(event.Delta{MessageID: messageID, Text: text(200)}, 12),
			"message.delta4000":  event.OfDelta(event.Delta{MessageID: messageID, Text: live}, 12),
			"message.reconcile":  event.Of(event.Reconcile{MessageID: messageID, Text: live, Part: 3, LastPart: true}),
			"activity":           event.Of(event.Activity{ID: messageID, Kind: "tool", State: "completed", Name: summary, Summary: "completed"}),
			"approval.requested": event.Of(event.ApprovalRequested{ID: messageID, Summary: summary, Expires: time.Minute}),
			"diagnostic":         event.Of(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: summary}),
		}
		for _, name := range slices.Sorted(maps.Keys(items)) {
			item := items[name]
			encode(b, name, escape, func(dst []byte) []byte {
				return env.EndEvent(item.AppendData(env.BeginEvent(dst), ref), item.Name())
			})
		}
		encode(b, "run.finished", escape, func(dst []byte) []byte {
			f := event.Finished{Outcome: localagent.OutcomeCompleted, Persistence: localagent.PersistenceDurable, Revision: runID}
			return env.EndEvent(event.AppendFinished(env.BeginEvent(dst), ref, f, ""), localagent.EventRunFinished)
		})
		encode(b, "error", escape, func(dst []byte) []byte {
			return env.AppendError(dst, "r1", true, localagent.CodeBusy)
		})
		encode(b, "response", escape, func(dst []byte) []byte {
			return env.EndResponse(append(env.BeginResult(dst, "r1"), `{"session_id":"6a1d9a52-8a54-4bb2-9a5c-3f8f6b7d8e9f","run_id":"`+runID+`"}`...))
		})
		page := jsonscan.AppendString([]byte(`{"entries":`), text(pageText[escape]))
		if len(page) >= localagent.MaxPageBytes || len(page) < localagent.MaxPageBytes*9/10 {
			b.Fatalf("a page of %d bytes", len(page))
		}
		page = append(page, '}')
		encode(b, "page32KiB", escape, func(dst []byte) []byte {
			return env.EndResponse(append(env.BeginResult(dst, "r1"), page...))
		})
	}
}

// pageText is how much text fills a page of 32 KiB.
var pageText = map[string]int{"none": 32_500, "heavy": 18_000}

func encode(b *testing.B, name, escape string, frame func(dst []byte) []byte) {
	b.Run("event="+name+"/escape="+escape, func(b *testing.B) {
		buf := frame(nil)
		if !bytes.HasSuffix(buf, []byte("}\n")) || bytes.Count(buf, []byte("\n")) != 1 {
			b.Fatalf("not one line: %q", buf)
		}
		b.SetBytes(int64(len(buf)))
		b.ReportAllocs()
		for b.Loop() {
			buf = frame(buf[:0])
		}
		perSecond(b, "frames/s", b.N)
	})
}
