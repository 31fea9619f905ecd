package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
	"magicode/telemetry"
)

const fields = `"run_id":"r-1","session_id":"s_1"`

func TestWire(t *testing.T) {
	tests := []struct {
		item Item
		name string
		kind telemetry.FrameKind
		want string
	}{
		{Of(InputPersisted{MessageID: "m", Revision: "v"}), "input.persisted", telemetry.FrameInputPersisted,
			`{"durable":true,"message_id":"m","revision":"v",` + fields + `}`},
		{OfDelta(Delta{MessageID: "m", Text: "a\"\n\u2028"}, 7), "message.delta", telemetry.FrameMessageDelta,
			`{"message_id":"m","part":7,` + fields + `,"text":"a\"\n\u2028"}`},
		{Of(Reconcile{MessageID: "m", Text: "t", Part: 2, LastPart: true}), "message.reconcile", telemetry.FrameMessageReconcile,
			`{"last_part":true,"message_id":"m","part":2,"partial":false,` + fields + `,"text":"t"}`},
		{Of(Reconcile{MessageID: "m", Partial: true}), "message.reconcile", telemetry.FrameMessageReconcile,
			`{"last_part":false,"message_id":"m","part":0,"partial":true,` + fields + `,"text":""}`},
		{Of(Activity{ID: "a", Kind: "tool", State: "started", Name: "read x", Summary: "s"}), "activity", telemetry.FrameActivity,
			`{"activity_id":"a","kind":"tool","name":"read x",` + fields + `,"state":"started","summary":"s"}`},
		{Of(ApprovalRequested{ID: "q", Summary: "rm", Expires: time.Minute}), "approval.requested", telemetry.FrameApprovalRequested,
			`{"approval_id":"q","expires_in_ms":60000,` + fields + `,"summary":"rm"}`},
		{Of(Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: "n"}), "diagnostic", telemetry.FrameDiagnostic,
			`{"code":"execution_notice",` + fields + `,"summary":"n"}`},
	}
	ref := NewRef("s_1", "r-1")
	for _, test := range tests {
		got := string(test.item.AppendData([]byte("x"), ref)[1:])
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
		if test.item.Name() != test.name || test.item.Kind() != test.kind {
			t.Errorf("%s: name %s, kind %d", test.name, test.item.Name(), test.item.Kind())
		}
		sortedKeys(t, got)
	}
}

func TestFinishedWire(t *testing.T) {
	ref := NewRef("s_1", "r-1")
	for _, test := range []struct {
		f    Finished
		code localagent.Code
		want string
	}{
		{Finished{Outcome: "completed", Persistence: "durable", Revision: "v"}, "",
			`{"error_code":null,"outcome":"completed","persistence":"durable","revision":"v",` + fields + `}`},
		{Finished{Outcome: "failed", Persistence: "not_started"}, localagent.CodeExecutionFailed,
			`{"error_code":"execution_failed","outcome":"failed","persistence":"not_started","revision":null,` + fields + `}`},
	} {
		got := string(AppendFinished(nil, ref, test.f, test.code))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
		sortedKeys(t, got)
	}
}

// sortedKeys holds an object against the order that encoding/json gives a map.
func sortedKeys(t *testing.T, object string) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSuffix(b.String(), "\n"), object); diff != "" {
		t.Errorf("not compact JSON with sorted keys: %s", diff)
	}
}

// TestLargestFrameFits: the worst text of each event stays far below the frame bound.
func TestLargestFrameFits(t *testing.T) {
	ref := NewRef(strings.Repeat("s", 64), strings.Repeat("r", 64))
	worst, summary := strings.Repeat("\u2028", localagent.MaxLiveTextBytes/3), strings.Repeat("\x01", localagent.MaxSummaryBytes)
	for _, i := range []Item{
		OfDelta(Delta{MessageID: "m", Text: strings.Repeat("\n", localagent.MaxLiveTextBytes)}, 1<<40),
		Of(Reconcile{MessageID: "m", Text: worst}),
		Of(Activity{ID: strings.Repeat("a", 64), Name: summary, Summary: summary}),
	} {
		if n := len(i.AppendData(nil, ref)); n > 20000 {
			t.Errorf("%s: %d bytes", i.Name(), n)
		}
	}
}
