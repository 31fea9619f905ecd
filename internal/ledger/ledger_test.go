package ledger

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"magicode/internal/tool"
	"magicode/internal/vfs"
)

func TestRecord(t *testing.T) {
	m := newHome(t)
	p := newPlace(t, m, home, work)
	p.rec.Record(t.Context(), tool.Edit{Tool: "write_file", Path: work + "/e.txt", After: file("x")})
	p.turn = 2
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/d/<ä>.txt", Before: file("x"), After: file("")})
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/d/<ä>.txt", Before: file("")})
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: "/elsewhere", Before: file("")})
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "2/x", Before: file("")})
	got, err := vfs.ReadFile(m, home+"/checkpoints/ledgers/s-1.jsonl", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	// The first line is storage.md 5.9's, with its values filled in.
	want := `{"schema_version":1,"event":{"session_id":"s-1","user_turn":1,"tool":"write_file","cwd":"/w","relative_path":"e.txt","pre":null,"post":{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","bytes":1},"status":"captured"}}
{"schema_version":1,"event":{"session_id":"s-1","user_turn":2,"tool":"edit","cwd":"/w","relative_path":"d/<ä>.txt","pre":{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","bytes":1},"post":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":0},"status":"captured"}}
{"schema_version":1,"event":{"session_id":"s-1","user_turn":2,"tool":"edit","cwd":"/w","relative_path":"d/<ä>.txt","pre":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":0},"post":null,"status":"captured"}}
`
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for path, mode := range map[string]uint32{"": 0o755, "/blobs": 0o700, "/ledgers": 0o700, "/blobs/2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881": 0o600} {
		if info, err := m.Lstat(home + "/checkpoints" + path); err != nil || uint32(info.Mode.Perm()) != mode {
			t.Errorf("%s: %v %v, want %o", path, info.Mode, err, mode)
		}
	}
	left, err := m.ReadDir(home + "/checkpoints")
	if err != nil || len(left) != 2 {
		t.Errorf("beside the two folders: %v %v", left, err)
	}
	if len(p.lost) != 0 {
		t.Errorf("lost: %q", p.lost)
	}
}

func TestLeftOut(t *testing.T) {
	big := tool.Version{Exists: true, Size: 1<<20 + 1}
	for _, c := range []struct {
		name          string
		path          string
		before, after tool.Version
		want          string
		lost          bool
	}{
		{"limit", "a", file(strings.Repeat("x", 1<<20)), file(""), `"captured"`, false},
		{"large before", "a", big, file(""), `{"oversized":{"bytes":1048577,"max_bytes":1048576}}`, false},
		{"large after", "a", tool.Version{}, tool.Present(make([]byte, 2<<20)), `{"oversized":{"bytes":2097152,"max_bytes":1048576}}`, false},
		{"unread", "a", tool.Version{Exists: true, Unread: "no"}, file(""), `{"unavailable":{"reason":"no"}}`, true},
		{"secret and large", "id_rsa", big, file(""), `{"excluded":{"reason":"secret_path"}}`, false},
		{"env", ".env", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"env of a stage", "d/.env.local", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"auth", "x/auth.json", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"ed25519", "id_ed25519", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"public half", "id_ed25519.pub", file("A"), file("B"), `"captured"`, false},
		{"pem", "a.PEM", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"key", "tls.key", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"keys", "a.keys", file("A"), file("B"), `"captured"`, false},
		{"project settings", ".magi-code/settings.json", file("A"), file("B"), `{"excluded":{"reason":"secret_path"}}`, false},
		{"other settings", "vs/settings.json", file("A"), file("B"), `"captured"`, false},
		{"git", "a/.git/config", file("A"), file("B"), `{"excluded":{"reason":"git_storage"}}`, false},
		{"git ignore", ".gitignore", file("A"), file("B"), `"captured"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newHome(t)
			p := newPlace(t, m, home, work)
			p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/" + c.path, Before: c.before, After: c.after})
			all, bad := read(t, m, home)
			if len(all) != 1 || bad != 0 {
				t.Fatalf("%d records, %d bad lines", len(all), bad)
			}
			e := all[0]
			status, _ := json.Marshal(e.Status)
			if string(status) != c.want || (e.Pre != nil || e.Post != nil) != (c.want == `"captured"`) || (len(p.lost) > 0) != c.lost {
				t.Errorf("%s, %v %v, lost %q", status, e.Pre, e.Post, p.lost)
			}
			if _, err := m.Lstat(home + "/checkpoints/blobs"); (err == nil) != (c.want == `"captured"`) {
				t.Errorf("blobs: %v", err)
			}
		})
	}
}

// TestOwnHome: a working directory that holds the home.
func TestOwnHome(t *testing.T) {
	for path, want := range map[string]string{
		"/checkpoints/blobs/x": checkpointStorage, "/sessions/s.jsonl": sessionStorage, "/settings.json": secretPath, "/auth.json": secretPath,
		"/mcp-tokens/a.json": secretPath, "/checkpoints2/x": "", "/AGENTS.md": "", "/skills/sessions/x": "",
	} {
		if got := exclusion("/u/h", "/u/h"+path, "h"+path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestTornLine(t *testing.T) {
	m := newHome(t)
	p := newPlace(t, m, home, work)
	path := home + "/checkpoints/ledgers/s-1.jsonl"
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/a", After: file("1")})
	whole, _ := vfs.ReadFile(m, path, 1<<20)
	if err := vfs.ReplaceCache(m, path, whole[:len(whole)-9], 0o644); err != nil {
		t.Fatal(err)
	}
	p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/b", After: file("2")})
	if all, bad := read(t, m, home); len(all) != 1 || bad != 1 || all[0].RelativePath != "b" {
		t.Errorf("%v, %d bad lines", all, bad)
	}
	if info, _ := m.Lstat(path); info.Mode.Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode)
	}
}

// TestOddPlaces: what is no folder or no plain file is left alone, and told.
func TestOddPlaces(t *testing.T) {
	const dir = home + "/checkpoints"
	for name, prepare := range map[string]func(m interface {
		Symlink(target, name string) error
		Mkfifo(name string, perm os.FileMode) error
		Mkdir(name string, perm os.FileMode) error
		Link(oldName, newName string) error
	}) error{
		"ledgers is a link": func(m odd) error { return m.Symlink(work, dir+"/ledgers") },
		"ledger is a link": func(m odd) error {
			_ = m.Mkdir(dir+"/ledgers", 0o700)
			return m.Symlink(work+"/victim", dir+"/ledgers/s-1.jsonl")
		},
		"ledger is a fifo": func(m odd) error {
			_ = m.Mkdir(dir+"/ledgers", 0o700)
			return m.Mkfifo(dir+"/ledgers/s-1.jsonl", 0o600)
		},
		"ledger has two names": func(m odd) error {
			_ = m.Mkdir(dir+"/ledgers", 0o700)
			return m.Link(work+"/victim", dir+"/ledgers/s-1.jsonl")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newHome(t)
			if err := vfs.ReplaceCache(m, work+"/victim", []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := prepare(m); err != nil {
				t.Fatal(err)
			}
			p := newPlace(t, m, home, work)
			p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/a", After: file("1")})
			if got, err := vfs.ReadFile(m, work+"/victim", 99); string(got) != "old" || err != nil || len(p.lost) != 1 || strings.Contains(p.lost[0], "/") {
				t.Errorf("%q %v, lost %q", got, err, p.lost)
			}
			if list, _ := m.ReadDir(work); len(list) != 1 {
				t.Errorf("made outside: %v", list)
			}
		})
	}
	t.Run("blobs is a link", func(t *testing.T) {
		m := newHome(t)
		if err := m.Symlink(work, dir+"/blobs"); err != nil {
			t.Fatal(err)
		}
		p := newPlace(t, m, home, work)
		p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: work + "/a", After: file("1")})
		all, _ := read(t, m, home)
		if len(all) != 1 || all[0].Status == captured || len(p.lost) != 1 {
			t.Errorf("%v, lost %q", all, p.lost)
		}
		if list, _ := m.ReadDir(work); len(list) != 0 {
			t.Errorf("made outside: %v", list)
		}
	})
}

type odd = interface {
	Symlink(target, name string) error
	Mkfifo(name string, perm os.FileMode) error
	Mkdir(name string, perm os.FileMode) error
	Link(oldName, newName string) error
}

// TestOtherProcess: one that keeps the lock costs two seconds and the record,
// also when the turn was cancelled meanwhile.
func TestOtherProcess(t *testing.T) {
	for _, lock := range []string{home + "/.checkpoint-store.lock", home + "/checkpoints/.checkpoint-store.lock"} {
		otherProcess(t, lock)
	}
}

func otherProcess(t *testing.T, lock string) {
	m := newHome(t)
	if err := vfs.ReplaceCache(m, lock, []byte("pid=1\ntoken=1-1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, m, home, work)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p.rec.Record(ctx, tool.Edit{Tool: "edit", Path: work + "/a", After: file("1")})
		if len(p.lost) != 1 || p.lost[0] != "another process is using the checkpoints" {
			t.Errorf("lost %q", p.lost)
		}
		if err := m.Remove(lock); err != nil {
			t.Fatal(err)
		}
		p.rec.Record(ctx, tool.Edit{Tool: "edit", Path: work + "/a", Before: file("1"), After: file("2")})
		if all, _ := read(t, m, home); len(all) != 1 || len(p.lost) != 1 {
			t.Errorf("%v, lost %q", all, p.lost)
		}
	})
}
