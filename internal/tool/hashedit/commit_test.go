package hashedit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/vfs"
)

// brokenFS fails operations on names that end in a given text.
type brokenFS struct {
	vfs.FS
	rename, remove, sync string
	onRename             func()
}

var errBroken = errors.New("broken")

func (f *brokenFS) Rename(from, to string) error {
	if f.rename != "" && strings.HasSuffix(to, f.rename) {
		return errBroken
	}
	if f.onRename != nil {
		f.onRename()
	}
	return f.FS.Rename(from, to)
}

func (f *brokenFS) Remove(name string) error {
	if f.remove != "" && strings.HasSuffix(name, f.remove) {
		return errBroken
	}
	return f.FS.Remove(name)
}

func (f *brokenFS) SyncDir(name string) error {
	if f.sync != "" {
		return errBroken
	}
	return f.FS.SyncDir(name)
}

func TestPartialCommit(t *testing.T) {
	for _, tc := range []struct {
		name     string
		fs       *brokenFS
		outcome  string
		kind     string
		statuses []string
		files    string // contents of a, b, c
	}{
		{"first", &brokenFS{rename: "/a.txt"}, "failure", "write", []string{"failed", "not_written", "not_written"}, "old old old"},
		{"second", &brokenFS{rename: "/b.txt"}, "partial", "write", []string{"committed", "failed", "not_written"}, "new old old"},
		{"undurable", &brokenFS{sync: "all"}, "partial", "undurable", []string{"committed_but_undurable", "not_written", "not_written"}, "new old old"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.fs.FS = vfs.OS()
			b := newBench(t, tc.fs)
			input := ""
			for _, n := range []string{"a.txt", "b.txt", "c.txt"} {
				b.put(n, "old")
				input += fmt.Sprintf("[%s#%s]\nSWAP 1:\n+new\n", n, b.read(n))
			}
			res := b.run(input)
			if res.Success || res.Metadata["outcome"] != tc.outcome || res.Metadata["error_kind"] != tc.kind {
				t.Errorf("%v %v: %s", res.Metadata["outcome"], res.Metadata["error_kind"], res.Content)
			}
			for i, f := range res.Metadata["files"].([]map[string]any) {
				if f["status"] != tc.statuses[i] {
					t.Errorf("file %d: %v", i, f["status"])
				}
			}
			if got := b.get("a.txt") + " " + b.get("b.txt") + " " + b.get("c.txt"); got != tc.files {
				t.Error(got)
			}
			if left, _ := filepath.Glob(b.path(".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCancelledCommit(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(t, &brokenFS{FS: vfs.OS(), onRename: cancel})
	b.put("a.txt", "old")
	b.put("b.txt", "old")
	input := fmt.Sprintf("[a.txt#%s]\nSWAP 1:\n+new\n[b.txt#%s]\nSWAP 1:\n+new", b.read("a.txt"), b.read("b.txt"))
	args, _ := json.Marshal(map[string]string{"input": input})
	res := b.tool.Run(ctx, b.env, args)
	if res.Success || res.Metadata["outcome"] != "canceled" || res.Metadata["error_kind"] != "canceled" || res.Metadata["committed"] != 1 {
		t.Errorf("%v", res.Metadata)
	}
	if b.get("a.txt") != "new" || b.get("b.txt") != "old" || len(res.Changed) != 1 {
		t.Errorf("%s %s %v", b.get("a.txt"), b.get("b.txt"), res.Changed)
	}
	if res = b.tool.Run(ctx, b.env, args); res.Success || len(res.Changed) > 0 {
		t.Errorf("cancelled before: %+v", res)
	}
}

func TestFailedMove(t *testing.T) {
	for _, tc := range []struct {
		name, remove, status, dest string
		changed                    int
	}{
		{"undone", "/a.txt", "failed", "", 0},
		{"not undone", ".txt", "destination_written_source_retained", "x\n", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, &brokenFS{FS: vfs.OS(), remove: tc.remove})
			b.put("a.txt", "old\n")
			res := b.run("[a.txt#" + b.read("a.txt") + "]\nSWAP 1:\n+x\nMV b.txt")
			f := res.Metadata["files"].([]map[string]any)[0]
			if res.Success || f["status"] != tc.status || b.get("a.txt") != "old\n" || len(res.Changed) != tc.changed {
				t.Errorf("%v: %s", f, res.Content)
			}
			if tc.dest == "" {
				if !strings.HasPrefix(b.get("b.txt"), "(") {
					t.Error("the destination is still there")
				}
			} else if b.get("b.txt") != tc.dest {
				t.Error(b.get("b.txt"))
			}
		})
	}
}
