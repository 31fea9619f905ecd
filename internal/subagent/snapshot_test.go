package subagent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/protect/injection"
	"magicode/internal/session"
)

// TestSnapshotShowsWhatAModelMaySee: of results, direct ones and those of
// scripts, whose records are encoded.
func TestSnapshotShowsWhatAModelMaySee(t *testing.T) {
	protection := func(action string, enforced bool) map[string]any {
		return map[string]any{"prompt_injection_protection": map[string]any{"action": action, "enforced": enforced, "result_id": "r"}}
	}
	sum := sha256.Sum256([]byte("raw"))
	assessment := func(call, action string, size int) map[string]any {
		v := protection(action, true)["prompt_injection_protection"].(map[string]any)
		v["assessed_bytes"], v["original_bytes"], v["sha256"] = size, size, hex.EncodeToString(sum[:])
		return map[string]any{"call_id": call, "prompt_injection_protection": v}
	}
	marked := injection.Project(injection.Annotate, "raw", "")
	for _, c := range []struct {
		name    string
		meta    map[string]any
		verdict map[string]any // nil: none was stored
		want    string
	}{
		{name: "not judged", meta: protection("not_assessed", false), want: "raw"},
		{name: "judged, for the record only", meta: protection("pending", false), verdict: assessment("c", "quarantine", 3), want: "raw"},
		{name: "allowed", meta: protection("pending", true), verdict: assessment("c", "allow", 3), want: "raw"},
		{name: "marked", meta: protection("pending", true), verdict: assessment("c", "annotate", 3), want: marked},
		{name: "withheld", meta: protection("pending", true), verdict: assessment("c", "quarantine", 3), want: injection.Withheld},
		{name: "of another call", meta: protection("pending", true), verdict: assessment("d", "allow", 3), want: injection.Withheld},
		{name: "of another text", meta: protection("pending", true), verdict: assessment("c", "allow", 4), want: injection.Withheld},
		{name: "verdict lost", meta: protection("pending", true), want: injection.Withheld},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.meta[factsKey] = batchFacts{}
			result := map[string]any{"call_id": "c", "changed_paths": []string{"/w/a"}, "display_id": "d", "resource_display": map[string]any{},
				"result": map[string]any{"tool_name": "read", "success": true, "content": "raw", "metadata": c.meta}}
			direct := []session.Event{{Kind: session.KindToolResult, Payload: result}, {Kind: session.KindToolAppliedPreview, Payload: map[string]any{}}}
			script := []session.Event{{Kind: session.KindCodeModeToolResult, Payload: encoded(t, result)}}
			if c.verdict != nil {
				direct = append(direct, session.Event{Kind: session.KindToolResultAssessment, Payload: c.verdict})
				script = append(script, session.Event{Kind: session.KindCodeModeAssessment, Payload: encoded(t, c.verdict)})
			}
			want := map[string]any{"call_id": "c", "changed_paths": []any{"/w/a"},
				"result": map[string]any{"tool_name": "read", "success": true, "content": c.want}}
			for _, tail := range [][]session.Event{direct, script} {
				r := record{tail: tail}
				var got struct{ Payload map[string]any }
				line := r.snapshot()
				if err := json.Unmarshal([]byte(line), &got); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if d := cmp.Diff(want, got.Payload); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSnapshotIsBounded: the newest records stay.
func TestSnapshotIsBounded(t *testing.T) {
	r := record{watch: newWatch(nil), dst: &memlog{}}
	for range 20 {
		ev := session.Event{Kind: session.KindDiagnostic, Payload: map[string]any{"message": strings.Repeat("x ", 20_000)}}
		if _, err := r.Append(t.Context(), session.Optional, ev, session.Event{Kind: session.KindTurnStatus, Payload: map[string]any{"status": "last"}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.snapshot(); len(got) > maxTailBytes || len(got) < maxTailBytes/2 || !strings.HasSuffix(got, `{"status":"last"}}`) {
		t.Errorf("%d bytes, end %q", len(got), got[max(0, len(got)-60):])
	}
}

// TestRemains: what stands for a task's answer, and that its records go.
func TestRemains(t *testing.T) {
	const line = `{"event_type":"diagnostic","payload":{}}`
	for _, c := range []struct {
		name      string
		completed bool
		said      []string
		want      string
	}{
		{"answered", true, []string{"first", "answer"}, "answer"},
		{"failed over its words", false, []string{"half", "an answer"}, "half\n\nan answer"},
		{"failed without a word", false, []string{" "}, line},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := task{completed: c.completed, sink: &sink{segments: c.said}, log: &record{tail: []session.Event{{Kind: session.KindDiagnostic, Payload: map[string]any{}}}}}
			k.output = k.sink.answer()
			if k.remains(); k.output != c.want || k.log.tail != nil {
				t.Errorf("%q, %d records", k.output, len(k.log.tail))
			}
		})
	}
}
