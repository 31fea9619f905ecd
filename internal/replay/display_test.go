package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/session"
)

// TestDisplayRecordsAreNotSent: what results keep for display cards, and the
// previews behind them, leave the conversation as it is.
func TestDisplayRecordsAreNotSent(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	for _, path := range files {
		plain := recorded(t, path)
		var more []rec
		for _, r := range plain {
			if r.kind != session.KindToolResult && r.kind != session.KindCodeModeToolResult {
				more = append(more, r)
				continue
			}
			r.payload = strings.Replace(r.payload, "{", `{"display_id":"d-1","resource_display":{"schema_version":1,"tool_name":"read","facts":[],"resources":[],"limited":true},`, 1)
			more = append(more, r, rec{session.KindToolAppliedPreview, `{"display_id":"d-1","preview":{"schema_version":1,"diff":"SENT","truncated":false}}`})
			added++
		}
		if d := cmp.Diff(lines(fold(plain...).Items()), lines(fold(more...).Items())); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	if added < 10 {
		t.Errorf("%d results in all sessions", added)
	}
}
