package history_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/session"
)

// withDisplay adds to every result what display cards need, and a preview behind it.
func withDisplay(t *testing.T, recs []session.Record) (out []session.Record, added int) {
	t.Helper()
	for _, r := range recs {
		if r.Kind != session.KindToolResult && r.Kind != session.KindCodeModeToolResult {
			out = append(out, r)
			continue
		}
		var p map[string]json.RawMessage
		if err := json.Unmarshal(r.Payload, &p); err != nil {
			t.Fatal(err)
		}
		p["display_id"] = json.RawMessage(`"d-1"`)
		p["resource_display"] = json.RawMessage(`{"schema_version":1,"tool_name":"read","facts":[{"label":"SEEN","value":null}],"resources":[],"limited":true}`)
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		r.Payload = raw
		out = append(out, r, rec(session.KindToolAppliedPreview, `{"display_id":"d-1","preview":{"schema_version":1,"diff":"SEEN","truncated":false}}`))
		added++
	}
	return out, added
}

// TestDisplayRecordsShowNothing: recorded sessions look the same with them.
func TestDisplayRecordsShowNothing(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		plain := lines(t, string(data))
		more, added := withDisplay(t, plain)
		all += added
		want, wantComplete := project(t, plain...)
		got, complete := project(t, more...)
		if d := cmp.Diff(want, got); d != "" || complete != wantComplete {
			t.Errorf("%s: complete %v\n%s", f, complete, d)
		}
		for _, m := range got {
			if strings.Contains(m.Text, "SEEN") {
				t.Errorf("%s shows %s", f, m.Text)
			}
		}
	}
	if all < 10 {
		t.Errorf("%d results in all sessions", all)
	}
}
