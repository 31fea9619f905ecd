//go:build linux || darwin

package listfiles

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

func workspace(t *testing.T) tool.Env {
	env := tooltest.Workspace(t, map[string]string{"b.txt": "", "a.txt": "", ".hidden": "", "d/x.txt": "", "line\nfeed": ""})
	root := env.Cwd
	os.Symlink("a.txt", filepath.Join(root, "link"))
	os.Symlink("/", filepath.Join(root, "out"))
	syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600)
	return env
}

func run(env tool.Env, absolute bool, args string) tool.Result {
	return New(vfs.OS(), absolute).Run(context.Background(), env, json.RawMessage(args))
}

func TestList(t *testing.T) {
	env := workspace(t)
	for _, tc := range []struct {
		name, args, want string
		files, dirs      int
	}{
		{"files", `{"path":"."}`, ".hidden\na.txt\nb.txt\n\"line\\nfeed\"", 4, 0},
		{"directories", `{"path":".","include_directories":true,"intent":"see"}`, ".hidden\na.txt\nb.txt\nd\n\"line\\nfeed\"", 4, 1},
		{"below", `{"path":"d","include_directories":null}`, "x.txt", 1, 0},
		{"absolute", `{"path":"` + env.Cwd + `/d"}`, "x.txt", 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(env, false, tc.args)
			if d := cmp.Diff(tc.want, res.Content); d != "" || !res.Success {
				t.Errorf("%v %s", res.Success, d)
			}
			if res.Metadata["files"] != tc.files || res.Metadata["directories"] != tc.dirs || res.Metadata["truncated"] != false {
				t.Errorf("%v", res.Metadata)
			}
			if len(res.Touched) != 1 || res.Touched[0].Kind != "list" || !res.Touched[0].Directory || !res.Touched[0].InsideCwd {
				t.Errorf("%+v", res.Touched)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	env := workspace(t)
	for _, tc := range []struct{ name, args, want string }{
		{"no path", `{}`, `"path" is required`}, {"null", `{"path":null}`, `"path" is required`}, {"empty", `{"path":""}`, "empty"},
		{"type", `{"path":["."]}`, `"path" must be a string`}, {"flag", `{"path":".","include_directories":1}`, "true or false"},
		{"unknown", `{"path":".","depth":2}`, `unknown field "depth"`}, {"missing", `{"path":"nope"}`, "no such file"},
		{"file", `{"path":"a.txt"}`, "not a directory"}, {"parent", `{"path":".."}`, "path escapes cwd"}, {"link", `{"path":"out"}`, "path escapes cwd"},
		{"absolute", `{"path":"/"}`, "capabilities.tools.list_files.absolute_paths"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(env, false, tc.args); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%v %q", res.Success, res.Content)
			}
		})
	}
}

func TestBound(t *testing.T) {
	env := workspace(t)
	for i := range 1100 {
		os.WriteFile(filepath.Join(env.Cwd, "d", fmt.Sprintf("f%04d", i)), nil, 0o644)
	}
	res := run(env, false, `{"path":"d"}`)
	names := strings.Split(res.Content, "\n")
	if len(names) != 1000 || names[0] != "f0000" || names[999] != "f0999" || res.Metadata["truncated"] != true {
		t.Errorf("%d names, %v", len(names), res.Metadata)
	}
}
