package checkpoint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is kept for display cards does not go into a checkpoint.
func TestDisplayRecordsAreNotCarriedOver(t *testing.T) {
	call, result := `{"id":"c","name":"write","arguments":{}}`, `{"call_id":"c","changed_paths":["/w/f"],"execution_effects":{"changed_path_count":1,"paths":["/w/f"]}`
	plain := fold(t, "tool_call", call, "tool_result", result+`}`)
	more := fold(t, "tool_call", call, "tool_result", result+`,"display_id":"d","resource_display":{"facts":[]}}`,
		"tool_applied_preview", `{"display_id":"d","preview":{"schema_version":1,"diff":"+a","truncated":false}}`)
	want, got := payload(t, plain), payload(t, more)
	delete(want, "aggregate") // holds the time of the last record
	delete(got, "aggregate")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
