package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/agenttest"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
)

// TestLedgerOfTurns: each turn's edits, a script's and a task's included, are in
// the session's ledger under the number of the turn.
func TestLedgerOfTurns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := agenttest.Start(t, "")
	c := serveOn(t, vfs.OS(), dir, m)
	write := func(name, text string) string {
		return fmt.Sprintf(`tool:write {"path":%q,"content":%q}`, name, text)
	}
	m.Load(write("a", "1"), "text:one")
	turns := []string{c.turn()}
	m.Load(write("a", "2"), `tool:code_mode {"code":"return tools.call('write', {path: 'b', content: '3'}).success"}`, "text:two")
	turns = append(turns, c.turn())
	m.Load(`tool:subagents {"tasks":[{"intent":"write","cwd":"sub"}]}`, write("c", "4"), "text:done", "text:three")
	turns = append(turns, c.turn())
	for i, got := range turns {
		if got != "completed durable <nil>" {
			t.Errorf("turn %d: %s", i+1, got)
		}
	}
	text, err := os.ReadFile(filepath.Join(c.home, "checkpoints/ledgers", c.session+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := [][2]string{{"1", "a"}, {"2", "a"}, {"2", "b"}, {"3", "sub/c"}}
	if len(lines) != len(want) {
		t.Fatalf("%d records:\n%s", len(lines), text)
	}
	for i, w := range want {
		head := fmt.Sprintf(`{"schema_version":1,"event":{"session_id":%q,"user_turn":%s,"tool":"write_file","cwd":%q,"relative_path":%q,`, c.session, w[0], dir, w[1])
		if !strings.HasPrefix(lines[i], head) || !strings.HasSuffix(lines[i], `"status":"captured"}}`) {
			t.Errorf("record %d:\n%s\nwanted\n%s", i, lines[i], head)
		}
	}
}

// TestLedgerFails: the edits and the turn stand, and the history says, once,
// that they cannot be taken back.
func TestLedgerFails(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fsys := faultfs.New(vfs.OS())
	m := agenttest.Start(t, "")
	c := serveOn(t, fsys, dir, m)
	fsys.Inject(faultfs.Fault{Op: faultfs.Mkdir, Effect: faultfs.FailFrom, Match: func(name string) bool { return strings.HasSuffix(name, "/ledgers") }})
	m.Load(`tool:write {"path":"a","content":"1"}`, `tool:write {"path":"b","content":"2"}`, "text:done")
	if got := c.turn(); got != "completed durable <nil>" {
		t.Error(got)
	}
	for name, want := range map[string]string{"a": "1", "b": "2"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(c.home, "sessions", c.session+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if n := strings.Count(got, "cannot take it back: input/output error."); n != 1 {
		t.Errorf("told %d times:\n%s", n, got)
	}
}
