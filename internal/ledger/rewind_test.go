//go:build linux || darwin

package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"magicode/internal/lease"
	"magicode/internal/tool"
	"magicode/internal/tool/hashedit"
	"magicode/internal/tool/write"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
)

// agent is the real tools on a real workspace, with a ledger in a real home.
type agent struct {
	*place
	t         *testing.T
	home, cwd string
	env       tool.Env
	writer    *write.Tool
	editor    *hashedit.Tool
	snapshots tool.Snapshots
}

func newAgent(t *testing.T) *agent { return newAgentOn(t, vfs.OS()) }

// newAgentOn edits on fsys; the ledger's own file system is sound.
func newAgentOn(t *testing.T, fsys vfs.FS) *agent {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, home: filepath.Join(root, "home"), cwd: filepath.Join(root, "work")}
	for _, dir := range []string{a.home, a.cwd} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a.place = newPlace(t, vfs.OS(), a.home, a.cwd)
	leases := lease.New(lease.Options{FS: vfs.OS()})
	t.Cleanup(func() { _ = leases.Close() })
	files := tool.Files{FS: fsys, Locks: tool.LeaseLocks{Manager: leases}}
	a.env = tool.Env{Cwd: a.cwd, CanonicalCwd: a.cwd, Edits: a.rec}
	a.writer, a.editor = write.New(files, true), hashedit.New(files, &a.snapshots, true)
	return a
}

func (a *agent) write(name, text string) tool.Result {
	args, _ := json.Marshal(map[string]string{"path": name, "content": text})
	return a.writer.Run(a.t.Context(), a.env, args)
}

// edit gives {NAME} the header of a file that was read just now.
func (a *agent) edit(patch string, names ...string) tool.Result {
	a.t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(a.cwd, name))
		if err != nil {
			a.t.Fatal(err)
		}
		text := tool.Normalize(data)
		a.snapshots.Record(filepath.Join(a.cwd, name), tool.Tag(text), text, 1, tool.LineCount(text))
		patch = strings.ReplaceAll(patch, "{"+name+"}", fmt.Sprintf("[%s#%s]", name, tool.Tag(text)))
	}
	args, _ := json.Marshal(map[string]string{"input": patch})
	return a.editor.Run(a.t.Context(), a.env, args)
}

// tree is the workspace: text by name.
func (a *agent) tree() map[string]string {
	a.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(a.cwd, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, a.cwd+"/")] = string(data)
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// rewind goes back to before a turn, as a rewind may: newest edit first, a file
// only when it is as the record left it.
func (a *agent) rewind(turn int) (conflicts []string) {
	a.t.Helper()
	all, _ := read(a.t, vfs.OS(), a.home)
	for _, e := range slices.Backward(all) {
		if e.UserTurn < turn || e.Status != captured {
			continue
		}
		path := filepath.Join(e.Cwd, e.RelativePath)
		now, err := os.ReadFile(path)
		want := ""
		if e.Post != nil {
			want, _ = content(a.t, vfs.OS(), a.home, e.Post.SHA256)
		}
		if errors.Is(err, fs.ErrNotExist) != (e.Post == nil) || string(now) != want {
			conflicts = append(conflicts, e.RelativePath)
			continue
		}
		if e.Pre == nil {
			err = os.Remove(path)
		} else {
			old, ok := content(a.t, vfs.OS(), a.home, e.Pre.SHA256)
			if !ok {
				a.t.Fatalf("the content of %s is gone", e.RelativePath)
			}
			err = os.WriteFile(path, []byte(old), 0o600)
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
	return conflicts
}

// TestRewind: three turns of edits of every kind, taken back turn by turn.
func TestRewind(t *testing.T) {
	a := newAgent(t)
	for name, text := range map[string]string{"a.txt": "1\r\n2\r\n", "gone.txt": "g", "moved.txt": "m\n", ".env": "KEY=1"} {
		if err := os.WriteFile(filepath.Join(a.cwd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := []map[string]string{a.tree()}
	step := func(results ...tool.Result) {
		t.Helper()
		for _, r := range results {
			if !r.Success {
				t.Fatal(r.Content)
			}
		}
		before = append(before, a.tree())
		a.turn++
	}
	step(a.write("new.txt", "n1"), a.write("a.txt", "one\ntwo\n"), a.write("d/deep.txt", ""))
	step(a.edit("{a.txt}\nSWAP 2:\n+zwei\n{gone.txt}\nREM\n{moved.txt}\nMV d/there.txt\nSWAP 1:\n+M", "a.txt", "gone.txt", "moved.txt"), a.write("gone.txt", "again"))
	step(a.write("new.txt", "n2"), a.write("new.txt", "n3"), a.edit("{d/there.txt}\nINS.TAIL:\n+more", "d/there.txt"))
	if len(a.lost) != 0 {
		t.Fatalf("lost %q", a.lost)
	}
	for turn := 3; turn >= 1; turn-- {
		if c := a.rewind(turn); len(c) != 0 {
			t.Fatalf("turn %d: conflicts %v", turn, c)
		}
		if got := a.tree(); !maps.Equal(got, before[turn-1]) {
			t.Errorf("before turn %d: %q, want %q", turn, got, before[turn-1])
		}
		truncate(t, a, turn)
	}
}

// truncate drops what was rewound, so that the next one does not see it.
func truncate(t *testing.T, a *agent, turn int) {
	t.Helper()
	path := filepath.Join(a.home, "checkpoints/ledgers/s-1.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for l := range strings.Lines(string(data)) {
		if !strings.Contains(l, fmt.Sprintf(`"user_turn":%d,`, turn)) {
			kept = append(kept, l)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestChangedSince(t *testing.T) {
	a := newAgent(t)
	a.write("a", "1")
	a.write("a", "2")
	if err := os.WriteFile(filepath.Join(a.cwd, "a"), []byte("the user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := a.rewind(1); len(c) != 2 || a.tree()["a"] != "the user's" {
		t.Errorf("%v %v", c, a.tree())
	}
}

// TestFailedEdits: what did not happen is not recorded, what did is, also where
// the tool failed.
func TestFailedEdits(t *testing.T) {
	ff := faultfs.New(vfs.OS())
	a := newAgentOn(t, ff)
	for name, text := range map[string]string{"a": "1\n", "b": "1\n"} {
		if err := os.WriteFile(filepath.Join(a.cwd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		op   faultfs.Op
		n    int
		do   func() tool.Result
		want string // paths and what is there afterwards
	}{
		{"write, not renamed", faultfs.Rename, 0, func() tool.Result { return a.write("a", "2") }, ""},
		{"write, not synced", faultfs.SyncDir, 0, func() tool.Result { return a.write("a", "3") }, "a:1>3"},
		{"second section not renamed", faultfs.Rename, 1, func() tool.Result { return a.edit("{a}\nSWAP 1:\n+4\n{b}\nSWAP 1:\n+4", "a", "b") }, "a:3>4"},
		{"move, source not removed, taken back", faultfs.Remove, 0, func() tool.Result { return a.edit("{a}\nMV c", "a") }, ""},
		{"removed, not synced", faultfs.SyncDir, 0, func() tool.Result { return a.edit("{a}\nREM", "a") }, "a:4>-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(a.home, "checkpoints/ledgers/s-1.jsonl"))
			ff.Inject(faultfs.Fault{Op: c.op, N: c.n})
			if res := c.do(); res.Success {
				t.Errorf("success: %s", res.Content)
			}
			if _, hit := ff.Hit(); !hit {
				t.Error("nothing failed")
			}
			ff.Heal()
			all, _ := read(t, vfs.OS(), a.home)
			var got []string
			for _, e := range all {
				pre, post := "-", "-"
				if e.Pre != nil {
					pre, _ = content(t, vfs.OS(), a.home, e.Pre.SHA256)
				}
				if e.Post != nil {
					post, _ = content(t, vfs.OS(), a.home, e.Post.SHA256)
				}
				got = append(got, e.RelativePath+":"+strings.TrimSpace(pre)+">"+strings.TrimSpace(post))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("recorded %q, want %q", got, c.want)
			}
		})
	}
}

// TestUnreadable: an old content that cannot be read is no absent file.
func TestUnreadable(t *testing.T) {
	a := newAgent(t)
	path := filepath.Join(a.cwd, "a")
	if err := os.WriteFile(path, []byte("x"), 0o000); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		_ = f.Close()
		t.Skip("this user reads everything")
	}
	res := a.write("a", "y")
	all, _ := read(t, vfs.OS(), a.home)
	if !res.Success || len(all) != 1 || all[0].Status == captured || len(a.lost) != 1 {
		t.Errorf("%v %v lost %q", res, all, a.lost)
	}
}

func TestLargeBefore(t *testing.T) {
	a := newAgent(t)
	if err := os.WriteFile(filepath.Join(a.cwd, "a"), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	res := a.write("a", "small")
	all, _ := read(t, vfs.OS(), a.home)
	if status, _ := json.Marshal(all[0].Status); !res.Success || string(status) != `{"oversized":{"bytes":3145728,"max_bytes":1048576}}` {
		t.Errorf("%s", status)
	}
}

// TestUmask: the contents of private files stay private.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	a := newAgent(t)
	a.write("a", "x")
	for path, want := range map[string]fs.FileMode{"blobs": 0o700, "ledgers": 0o700} {
		info, err := os.Lstat(filepath.Join(a.home, "checkpoints", path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	list, err := os.ReadDir(filepath.Join(a.home, "checkpoints/blobs"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if info, err := list[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("blob: %v %v", info.Mode(), err)
	}
}
