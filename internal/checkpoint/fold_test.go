package checkpoint

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/session"
)

// fold feeds records in the short form kind, payload.
func fold(t *testing.T, records ...string) *Fold {
	t.Helper()
	f := new(Fold)
	for i := 0; i < len(records); i += 2 {
		err := f.Apply(session.Record{Kind: session.Kind(records[i]), Payload: []byte(records[i+1]), Index: i / 2, SessionID: "s",
			Timestamp: fmt.Sprintf("2026-01-02T03:04:%02dZ", i%60), SessionPath: "/w"})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// payload is what a reader would find.
func payload(t *testing.T, f *Fold) map[string]any {
	t.Helper()
	b, err := json.Marshal(f.Payload("SUM", "p", "m", "run2"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func use(id string, seq, in, out int, final bool) string {
	return fmt.Sprintf(`{"id":%q,"request_sequence":%d,"final_usage":%v,"usage":{"effective_input":%d,"output":%d,"cache_read":1,"cache_known":true}}`, id, seq, final, in, out)
}

func TestPayload(t *testing.T) {
	f := fold(t,
		"user_input", `{"origin":"user","text":"first"}`,
		"session_usage", use("session-usage/run1/primary/0", 0, 0, 0, false),
		"session_usage", use("session-usage/run1/primary/0", 0, 10, 1, true),
		"session_usage", use("session-usage/run1/primary/1", 1, 20, 2, true),
		"tool_call", `{"id":"c1","name":"write","arguments":{}}`,
		"tool_result", `{"call_id":"c1","result":{},"execution_effects":{"changed_path_count":1,"paths":["/w/a"]}}`,
		"tool_call", `{"id":"c2","name":"bash","arguments":{}}`,
		"tool_result", `{"call_id":"c2","result":{},"execution_effects":{"changed_path_count":0,"paths":[]}}`,
		"assistant_output", `{"text":"x","usage":null}`,
		"session_preferences", `{"provider":"p","model":"m2","requested_thinking":"low"}`,
		"session_usage", use("session-usage/run2/primary/0", 0, 7, 7, false),
	)
	got := payload(t, f)
	use2 := got["session_usage"].(map[string]any)
	if diff := cmp.Diff([]any{"30", "3", "2", 0.0, true, false, true}, []any{use2["input"], use2["output"], use2["cache_read"], use2["unknown_cache"], use2["recorded"],
		use2["incomplete"], use2["records"].(map[string]any)["session-usage/run2/primary/0"] != nil}); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{"mutation_calls": 1.0, "shell_calls": 1.0, "incomplete": false, "samples": []any{map[string]any{"call_id": "c1", "path": "/w/a"}}}
	if diff := cmp.Diff(want, got["execution_effects"]); diff != "" {
		t.Error(diff)
	}
	agg := got["aggregate"].(map[string]any)
	if agg["user_input_count"] != 1.0 || agg["first_user_input_text"] != "first" || agg["latest_title"] != nil || agg["session_path"] != "/w" {
		t.Errorf("%v", agg)
	}
	if got["primary_usage_since_output"] != true || got["session_preferences"].(map[string]any)["model"] != "m2" {
		t.Errorf("%v", got)
	}
}

// TestSecondCheckpointGoesOnFromTheFirst: nothing is counted twice or lost.
func TestSecondCheckpointGoesOnFromTheFirst(t *testing.T) {
	first, err := json.Marshal(payload(t, fold(t,
		"user_input", `{"origin":"user","text":"a"}`,
		"session_usage", use("session-usage/run1/primary/0", 0, 10, 1, true),
		"tool_call", `{"id":"c","name":"bash"}`, "tool_result", `{"call_id":"c","result":{}}`,
		"session_usage", use("session-usage/run2/primary/0", 0, 5, 5, true))))
	if err != nil {
		t.Fatal(err)
	}
	got := payload(t, fold(t, "compaction", string(first), "session_usage", use("session-usage/run2/primary/0", 0, 6, 6, true), "user_input", `{"origin":"user","text":"b"}`))
	u := got["session_usage"].(map[string]any)
	if u["input"] != "10" || len(u["records"].(map[string]any)) != 1 {
		t.Errorf("%v", u)
	}
	if e := got["execution_effects"].(map[string]any); e["shell_calls"] != 1.0 {
		t.Errorf("%v", e)
	}
	if a := got["aggregate"].(map[string]any); a["user_input_count"] != 2.0 || a["first_user_input_text"] != "a" {
		t.Errorf("%v", a)
	}
}

func TestUnfinishedCallsMakeTheEvidenceIncomplete(t *testing.T) {
	got := payload(t, fold(t, "tool_call", `{"id":"c","name":"bash"}`))
	if e := got["execution_effects"].(map[string]any); e["incomplete"] != true {
		t.Errorf("%v", e)
	}
}
