package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/agenttest"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
)

// displayed is what the records of a session keep for those who show its calls.
type displayed struct {
	Type    string `json:"event_type"`
	Payload struct {
		DisplayID *string `json:"display_id"`
		Display   *struct {
			Tool      string `json:"tool_name"`
			Facts     []struct{ Label, Value string }
			Resources []struct{ Location, Outcome, Completeness string }
		} `json:"resource_display"`
		Preview *struct {
			Diff      string
			Truncated bool
		}
		Parent   string `json:"parent_call_id"`
		Sequence int
		Result   struct {
			ToolName string `json:"tool_name"`
		}
	}
}

// line names what a record keeps, "" for the kinds that keep nothing.
func (d displayed) line(ids map[string]string) string {
	p := d.Payload
	switch {
	case strings.HasSuffix(d.Type, "tool_result"):
		text := p.Result.ToolName
		if p.DisplayID != nil {
			ids[*p.DisplayID] = text
			text += " has a preview"
		}
		if p.Display != nil {
			text += fmt.Sprintf(" %s %s=%s %d facts %v", p.Display.Tool, p.Display.Facts[0].Label, p.Display.Facts[0].Value, len(p.Display.Facts), p.Display.Resources)
		}
		return text
	case d.Type == "tool_applied_preview":
		return fmt.Sprintf("preview of %s %v %d %q", ids[*p.DisplayID], p.Parent != "", p.Sequence, p.Preview.Diff)
	}
	return ""
}

// TestRecordsForDisplay: the calls of whole turns, a script's included, leave
// what cards need, in the file only: no request of these turns, of the
// compaction or of the turn after it holds anything of it.
func TestRecordsForDisplay(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := agenttest.Start(t, "")
	c := serveOn(t, vfs.OS(), dir, m)
	var requests []string
	for i, script := range [][]string{
		{`tool:write {"path":"f.txt","content":"a\nb\n"}`, `tool:read {"paths":["f.txt","gone"]}`, `tool:grep {"patterns":["b"],"path":"f.txt"}`, `tool:find {"query":"f.txt"}`, "text:one"},
		{`tool:code_mode {"code":"tools.call('list_files', {path: '.'}); return tools.call('write', {path: 'f.txt', content: 'a\\nB\\n'}).success"}`, "text:two"},
		{`tool:magi_control {"action":"compact"}`, "text:a summary", "text:three"},
		{`tool:list_files {"path":"gone"}`, "text:four"},
	} {
		m.Load(script...)
		if got := c.turn(); got != "completed durable <nil>" {
			t.Fatalf("turn %d: %s", i+1, got)
		}
		requests = append(requests, m.Seen()...)
		if i == 1 {
			checkDisplays(t, c, dir)
		}
	}
	if len(requests) != 12 {
		t.Errorf("%d requests", len(requests))
	}
	for i, r := range requests {
		for _, word := range []string{"display_id", "resource_display", "applied_preview", "@@ -1", "Results limited", "Requested resources", "Matching lines"} {
			if strings.Contains(r, word) {
				t.Errorf("request %d holds %s:\n%s", i+1, word, r)
			}
		}
	}
}

func checkDisplays(t *testing.T, c *inProcess, dir string) {
	text, err := os.ReadFile(filepath.Join(c.home, "sessions", c.session+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	ids := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var d displayed
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if s := d.line(ids); s != "" {
			got = append(got, s)
		}
	}
	want := []string{
		"write has a preview", `preview of write false 0 "--- /dev/null\n+++ f.txt\n@@ -0,0 +1,2 @@\n+a\n+b"`,
		"read read Requested resources=2 8 facts [{" + dir + "/f.txt success complete} {gone failure unavailable}]",
		"grep grep Matching lines returned=1 24 facts []", "find find Entries returned=1 14 facts []",
		"list_files list_files Files returned=1 6 facts []",
		"write has a preview", `preview of write true 2 "--- f.txt\n+++ f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B"`, "code_mode",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestDisplayRecordsFail fails each write to the session file of a turn in its
// turn. A preview that is lost never takes its result with it, and a turn is
// only called durable with all of its records in the file.
func TestDisplayRecordsFail(t *testing.T) {
	lost := false
	for n := 0; ; n++ {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		fsys := faultfs.New(vfs.OS())
		m := agenttest.Start(t, "")
		c := serveOn(t, fsys, dir, m)
		file := filepath.Join(c.home, "sessions", c.session+".jsonl")
		m.Load("text:before")
		c.turn()
		fsys.Inject(faultfs.Fault{N: n, Op: faultfs.Write, Effect: faultfs.Shorten, Match: func(name string) bool { return name == file }})
		m.Load(`tool:write {"path":"f.txt","content":"a\n"}`, "text:done")
		got := c.turn()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		result, preview := strings.Contains(string(text), `"tool_result"`), strings.Contains(string(text), `"tool_applied_preview"`)
		if preview && !result || strings.Contains(got, "durable") && strings.HasPrefix(got, "completed") && !(result && preview) {
			t.Errorf("write %d: %s, result %v, preview %v", n, got, result, preview)
		}
		if result && !preview {
			lost = true
			if got != "completed degraded <nil>" || len(m.Seen()) != 2 {
				t.Errorf("write %d loses the preview: %s, %d requests", n, got, len(m.Seen()))
			}
		}
		if _, hit := fsys.Hit(); !hit {
			break
		}
	}
	if !lost {
		t.Error("no write was that of a preview alone")
	}
}
