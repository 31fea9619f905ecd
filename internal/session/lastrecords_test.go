package session

import (
	"fmt"
	"strings"
	"testing"

	"magicode/internal/vfs/memfs"
)

func lastLine(id, text string) string {
	return fmt.Sprintf(`{"event_type":"diagnostic","timestamp":"2026-01-02T03:04:05Z","session_id":%q,"cwd":"/w","session_path":"/w","payload":{"message":%q}}`+"\n", id, text)
}

func TestLastRecords(t *testing.T) {
	many := func(n, size int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(lastLine(sid, fmt.Sprint(i, strings.Repeat("x", size))))
		}
		return b.String()
	}
	last := lastLine(sid, "last")
	for _, c := range []struct {
		name, id, text string
		want           int
	}{
		{"two", sid, last + last, 2},
		{"empty", sid, "", 0},
		{"200 lines and more", sid, many(300, 10) + last, maxLastLines},
		{"10 MB", sid, many(10, 1_000_000) + last, 1},
		{"whole lines within the bytes", sid, many(50, 50_000) + last, 3},
		{"torn at the end", sid, last + last[:40], 1},
		{"padded", sid, last + strings.Repeat("\x00", 100), 1},
		{"damaged between", sid, last + "{\n\n[]\n" + last, 2},
		{"foreign", sid, lastLine("other", "x") + last, 1},
		{"one line over all bounds", sid, lastLine(sid, strings.Repeat("x", maxLastBytes)), 0},
		{"no end of line", sid, strings.TrimSuffix(last, "\n"), 1},
		{"upwards", "../" + sid, last, 0},
		{"absolute", dir + "/" + sid, last, 0},
		{"no id", "", last, 0},
		{"missing", "another", last, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMem(t)
			put(t, m, file, c.text, 0o600)
			got := NewStore(options(t, m, 1, nil)).LastRecords(c.id)
			if len(got) != c.want {
				t.Fatalf("%d records, want %d", len(got), c.want)
			}
			for i, rec := range got {
				if rec.Index != i || rec.SessionID != sid {
					t.Errorf("record %d: %+v", i, rec)
				}
			}
			if n := len(got); n > 2 && string(got[n-1].Payload) != `{"message":"last"}` {
				t.Errorf("the last is %.80s", got[n-1].Payload)
			}
		})
	}
}

// TestLastRecordsOfNoLog: what stands under the name of a log and is none.
func TestLastRecordsOfNoLog(t *testing.T) {
	for name, spoil := range map[string]func(m *memfs.FS) error{
		"link":         func(m *memfs.FS) error { return m.Symlink("/mc/log", file) },
		"second name":  func(m *memfs.FS) error { return m.Link("/mc/log", file) },
		"fifo":         func(m *memfs.FS) error { return m.Mkfifo(file, 0o600) },
		"folder":       func(m *memfs.FS) error { return m.Mkdir(file, 0o700) },
		"open to all":  func(m *memfs.FS) error { put(t, m, file, lastLine(sid, "x"), 0o600); return m.Chmod(file, 0o644) },
		"of another":   func(m *memfs.FS) error { put(t, m, file, lastLine(sid, "x"), 0o600); return m.Chown(file, 1<<30) },
		"folder open":  func(m *memfs.FS) error { put(t, m, file, lastLine(sid, "x"), 0o600); return m.Chmod(dir, 0o755) },
		"folder moved": func(m *memfs.FS) error { return m.Rename(dir, "/mc/away") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMem(t)
			put(t, m, "/mc/log", lastLine(sid, "x"), 0o600)
			must(t, spoil(m))
			if got := NewStore(options(t, m, 1, nil)).LastRecords(sid); got != nil {
				t.Errorf("%d records", len(got))
			}
		})
	}
}
