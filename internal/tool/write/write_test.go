//go:build linux || darwin

package write

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

type noLocks struct{ err error }

func (l noLocks) Lock(ctx context.Context, _ string) (func(), error) {
	return func() {}, errors.Join(l.err, ctx.Err())
}

func setup(t *testing.T) (tool.Env, tool.Files) {
	env := tooltest.Workspace(t, map[string]string{"d/": ""})
	root := env.Cwd
	os.WriteFile(filepath.Join(root, "old.txt"), []byte("old"), 0o600)
	os.Symlink("old.txt", filepath.Join(root, "link"))
	os.Symlink("/tmp", filepath.Join(root, "out"))
	syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600)
	return env, tool.Files{FS: vfs.OS(), Locks: noLocks{}}
}

func run(env tool.Env, files tool.Files, args any) tool.Result {
	raw, ok := args.(string)
	if !ok {
		b, _ := json.Marshal(args)
		raw = string(b)
	}
	return New(files, false).Run(context.Background(), env, json.RawMessage(raw))
}

func TestWrite(t *testing.T) {
	env, files := setup(t)
	for _, tc := range []struct{ path, content string }{
		{"new.txt", "x"}, {"old.txt", ""}, {"a/b/c.txt", "räksmörgås \U0001f600"}, {"d/CRLF", "a\r\nb\n"}, {env.Cwd + "/abs.txt", strings.Repeat("x", 1<<20)}, {"ünï 文.txt", "n"},
	} {
		res := run(env, files, map[string]any{"path": tc.path, "content": tc.content, "intent": nil})
		full := tc.path
		if !filepath.IsAbs(full) {
			full = filepath.Join(env.Cwd, full)
		}
		data, err := os.ReadFile(full)
		if !res.Success || err != nil || string(data) != tc.content {
			t.Errorf("%s: %s %v", tc.path, res.Content, err)
		}
		if res.Metadata["path"] != full || res.Metadata["bytes"] != len(tc.content) || len(res.Changed) != 1 || res.Changed[0] != full {
			t.Errorf("%s: %v %v", tc.path, res.Metadata, res.Changed)
		}
		if len(res.Touched) != 1 || res.Touched[0].Kind != "write" || !res.Touched[0].InsideCwd {
			t.Errorf("%+v", res.Touched)
		}
	}
}

func TestErrors(t *testing.T) {
	env, files := setup(t)
	for _, tc := range []struct {
		name string
		args any
		want string
	}{
		{"no path", `{"content":""}`, `"path" is required`}, {"no content", `{"path":"a"}`, `"content" is required`}, {"null content", `{"path":"a","content":null}`, `"content" is required`},
		{"empty path", `{"path":"","content":""}`, "empty"}, {"type", `{"path":"a","content":1}`, `"content" must be a string`}, {"unknown", `{"path":"a","content":"","mode":1}`, `unknown field "mode"`},
		{"large", map[string]any{"path": "a", "content": strings.Repeat("x", 1<<20+1)}, "1048577 bytes, limit 1048576 bytes"},
		{"parent", `{"path":"../a","content":""}`, "path escapes cwd"}, {"through a link", `{"path":"out/a","content":""}`, "path escapes cwd"}, {"absolute", `{"path":"/tmp/a","content":""}`, "capabilities.tools.write.absolute_paths"},
		{"link", `{"path":"link","content":""}`, "symbolic link"}, {"directory", `{"path":"d","content":""}`, "not a regular file"}, {"fifo", `{"path":"fifo","content":""}`, "not a regular file"},
		{"file as directory", `{"path":"old.txt/a","content":""}`, "not a directory"}, {"slash", `{"path":"a/","content":""}`, "names a directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(env, files, tc.args)
			if res.Success || !strings.Contains(res.Content, tc.want) || len(res.Changed) > 0 {
				t.Errorf("%v %q", res.Success, res.Content)
			}
		})
	}
	if data, _ := os.ReadFile(env.Cwd + "/old.txt"); string(data) != "old" {
		t.Errorf("%q", data)
	}
	files.Locks = noLocks{errors.New("held")}
	if res := run(env, files, `{"path":"a","content":""}`); res.Success || !strings.Contains(res.Content, "in use by another writer") {
		t.Errorf("%q", res.Content)
	}
}

type unsynced struct{ vfs.FS }

func (unsynced) SyncDir(string) error { return errors.New("no") }

func TestUndurable(t *testing.T) {
	env, files := setup(t)
	files.FS = unsynced{vfs.OS()}
	res := run(env, files, `{"path":"a","content":"x"}`)
	if res.Success || res.Metadata["outcome"] != "committed_but_undurable" || len(res.Changed) != 1 {
		t.Errorf("%+v", res)
	}
}

func TestCancelled(t *testing.T) {
	env, files := setup(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res := New(files, false).Run(ctx, env, json.RawMessage(`{"path":"a","content":"x"}`))
	if res.Success || res.Content != tool.CancelledText {
		t.Errorf("%+v", res)
	}
}
