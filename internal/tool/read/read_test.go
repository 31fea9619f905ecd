//go:build linux || darwin

package read

import (
	"context"
	"encoding/json"
	"errors"
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

type skills struct{}

func (skills) ReadSkill(_ context.Context, name, reference string, _ int64) ([]byte, error) {
	if name != "deploy" {
		return nil, errors.New("no such skill: " + name)
	}
	return []byte("# " + name + " " + reference + "\n"), nil
}

type bench struct {
	env   tool.Env
	snaps *tool.Snapshots
	tool  *Tool
}

func setup(t testing.TB, files map[string]string) *bench {
	b := &bench{env: tooltest.Workspace(t, files), snaps: &tool.Snapshots{}}
	b.tool = New(tool.Files{FS: vfs.OS()}, b.snaps, skills{}, false)
	return b
}

func (b *bench) paths(paths ...string) tool.Result {
	args, _ := json.Marshal(map[string]any{"paths": paths})
	return b.tool.Run(context.Background(), b.env, args)
}

// head is a file's header row.
func (b *bench) head(name, text string) string {
	return "[" + b.env.Cwd + "/" + name + "#" + tool.Tag(tool.Normalize([]byte(text))) + "]"
}

func TestSelectors(t *testing.T) {
	text := "one\ntwo\nthree\nfour\n"
	b := setup(t, map[string]string{"f": text, "crlf": "\ufeffa\r\nb\rc", "empty": "", "odd:2": "odd\n", "eol": "\n"})
	for _, tc := range []struct{ entry, want string }{
		{"f", "HEAD\n1:one\n2:two\n3:three\n4:four"},
		{"f:2", "HEAD\n2:two"}, {"f:2-3", "HEAD\n2:two\n3:three"}, {"f:-2", "HEAD\n1:one\n2:two"}, {"f:3+", "HEAD\n3:three\n4:four"}, {"f:2+2", "HEAD\n2:two\n3:three"},
		{"f:3-99", "HEAD\n3:three\n4:four"}, {"f:-99", "HEAD\n1:one\n2:two\n3:three\n4:four"},
		{"f:raw", text}, {"f:raw:2-3", "two\nthree"}, {"f:2-3:raw", "two\nthree"}, {"f:raw:4+", "four"}, {"crlf:raw", "\ufeffa\r\nb\rc"}, {"crlf:raw:1", "\ufeffa"},
		{"crlf", "HEAD\n1:a\n2:b\n3:c"}, {"empty", "HEAD"}, {"empty:raw", ""}, {"eol", "HEAD\n1:"}, {"odd:2", "HEAD\n1:odd"}, {"odd:2:1", "HEAD\n1:odd"},
		{"f:0", "ERROR: line selector \"0\": lines are counted from 1"}, {"f:3-2", "ERROR: line selector \"3-2\": line selector \"3-2\" ends before it starts"}, {"f:0-2", "ERROR: line selector \"0-2\": lines are counted from 1"}, {"f:1+0", "ERROR: line selector \"1+0\": lines are counted from 1"},
		{"f:5", "ERROR: line 5 is beyond the end: there are 4 lines"}, {"f:1:2", "ERROR: only one line selector is allowed"}, {"f:99999999999999999999", "ERROR: line selector \"99999999999999999999\": number too large"},
		{"f:x", "ERROR: no such file or directory: f:x"}, {"nope:3", "ERROR: no such file or directory: nope"}, {"f:", "ERROR: no such file or directory: f:"}, {"f:-", "ERROR: no such file or directory: f:-"},
	} {
		t.Run(tc.entry, func(t *testing.T) {
			name, _, _ := strings.Cut(strings.ReplaceAll(tc.entry, "odd:2", "odd;2"), ":")
			name = strings.ReplaceAll(name, ";", ":")
			data, _ := os.ReadFile(filepath.Join(b.env.Cwd, name))
			want := "--- FILE: " + tc.entry + " ---\n" + strings.ReplaceAll(tc.want, "HEAD", b.head(name, string(data)))
			res := b.paths(tc.entry)
			if d := cmp.Diff(want, res.Content); d != "" || res.Success != !strings.HasPrefix(tc.want, "ERROR") {
				t.Errorf("%v %s", res.Success, d)
			}
		})
	}
}

func TestSources(t *testing.T) {
	b := setup(t, map[string]string{"f": "x\n", "bad": "\xff", "d/x": ""})
	os.Symlink("/etc/passwd", filepath.Join(b.env.Cwd, "out"))
	os.Symlink("f", filepath.Join(b.env.Cwd, "in"))
	syscall.Mkfifo(filepath.Join(b.env.Cwd, "fifo"), 0o600)
	os.WriteFile(filepath.Join(b.env.Cwd, "big"), make([]byte, 1<<20+1), 0o644)
	for _, tc := range []struct{ entry, want string }{
		{"https://example.com/a", "use the web tool"}, {"HTTP://x", "use the web tool"}, {"file:///etc/passwd", `unsupported scheme "file"`}, {"skill://deploy", "1:# deploy "}, {"skill://deploy/a/b.md", "1:# deploy a/b.md"},
		{"skill://deploy:raw", "---\n# deploy \n"}, {"skill://deploy:3", "line selectors do not apply"}, {"skill://nope", "no such skill"}, {"skill://", "no such skill"},
		{"bad", "not valid UTF-8"}, {"d", "not a regular file"}, {"fifo", "not a regular file"}, {"big", "more than 1048576 bytes"}, {"out", "path escapes cwd"}, {"/etc/passwd", "capabilities.tools.read.absolute_paths"}, {"../x", "path escapes cwd"}, {"in", "/f#"},
	} {
		if res := b.paths(tc.entry); !strings.Contains(res.Content, tc.want) {
			t.Errorf("%s: %q", tc.entry, res.Content)
		}
	}
}

func TestArguments(t *testing.T) {
	b := setup(t, map[string]string{"f": "x\n"})
	for _, tc := range []struct{ args, want string }{
		{`{}`, `"paths" is required`}, {`{"paths":null}`, `"paths" is required`}, {`{"paths":[]}`, "1 to 8"}, {`{"paths":["f","f","f","f","f","f","f","f","f"]}`, "1 to 8"}, {`{"paths":["f"," "]}`, "blank"},
		{`{"paths":5}`, `"paths" must be an array`}, {`{"paths":[5]}`, `"paths/0" must be a string`}, {`{"paths":["f"],"path":"f"}`, `"paths" only`}, {`{"paths":["f"],"limit":1}`, `unknown field "limit"`}, {`{"path":"nope"}`, "no such file"},
	} {
		if res := b.tool.Run(context.Background(), b.env, json.RawMessage(tc.args)); res.Success || !strings.Contains(res.Content, tc.want) {
			t.Errorf("%s: %+v", tc.args, res)
		}
	}
	res := b.tool.Run(context.Background(), b.env, json.RawMessage(`{"path":"f","intent":"look"}`))
	if !res.Success || res.Content != b.head("f", "x\n")+"\n1:x" || res.Metadata["hashline_tag"] != tool.Tag("x\n") {
		t.Errorf("legacy: %+v", res)
	}
}

func TestSeveral(t *testing.T) {
	b := setup(t, map[string]string{"src/a.go": "package a\n\n", "b": "b"})
	res := b.paths("src/a.go", "missing.txt", "b:1")
	want := "--- FILE: src/a.go ---\n" + b.head("src/a.go", "package a\n\n") + "\n1:package a\n2:\n\n--- FILE: missing.txt ---\nERROR: no such file or directory: missing.txt\n\n--- FILE: b:1 ---\n" + b.head("b", "b") + "\n1:b"
	if d := cmp.Diff(want, res.Content); d != "" || !res.Success {
		t.Error(d)
	}
	for k, want := range map[string]any{"files": 3, "succeeded": 2, "failed": 1, "omitted": 0, "truncated": false, "file_limit": 8, "byte_limit": 1 << 20} {
		if res.Metadata[k] != want {
			t.Errorf("%s = %v", k, res.Metadata[k])
		}
	}
	one := res.Metadata["results"].([]map[string]any)[2]
	sel := one["selector"].(map[string]any)
	if one["requested_path"] != "b:1" || one["total_lines"] != 1 || sel["lines"].(map[string]any)["type"] != "single" || one["kind"] != "file" {
		t.Errorf("%v", one)
	}
	s := res.Metadata["structured_result"].(map[string]any)
	f := s["files"].([]map[string]any)
	if s["complete"] != false || f[0]["text"] != "package a\n\n" || f[0]["complete"] != true || f[1]["error"] == nil {
		t.Errorf("%v", s)
	}
	if len(res.Touched) != 2 || res.Touched[0].Kind != "read" {
		t.Errorf("%+v", res.Touched)
	}
	if res := b.paths("nope", "no"); res.Success {
		t.Error("all failed")
	}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("line\n", 500)
	half := strings.Repeat(strings.Repeat("x", 1000)+"\n", 600)
	b := setup(t, map[string]string{"long": long, "h1": half, "h2": half, "h3": half})
	res := b.paths("long")
	if !strings.Contains(res.Content, "\n400:line\n[truncated: lines 1-400 of 500 shown") || strings.Contains(res.Content, "401:") || res.Metadata["truncated"] != true || res.Metadata["aggregate_truncated"] != false {
		t.Errorf("%q", res.Content[len(res.Content)-200:])
	}
	if one := res.Metadata["results"].([]map[string]any)[0]; one["total_lines"] != nil {
		t.Errorf("%v", one)
	}
	res = b.paths("h1:1+", "h2:1+", "h3:1+")
	if len(res.Content) > 1<<20 || !strings.Contains(res.Content, "--- READ TRUNCATED ---\nERROR: h2:1+") || !strings.Contains(res.Content, "--- READ OMITTED ---\nERROR: 1 of 3") {
		t.Errorf("%d bytes, %q", len(res.Content), res.Content[len(res.Content)-400:])
	}
	if res.Metadata["omitted"] != 1 || res.Metadata["aggregate_truncated"] != true || !res.Success {
		t.Errorf("%v", res.Metadata["omitted"])
	}
	res = b.paths("h1:raw", "h2:raw")
	if len(res.Content) > 1<<20 || !strings.Contains(res.Content, "READ TRUNCATED") {
		t.Errorf("%d bytes", len(res.Content))
	}
	// What was cut off was not seen.
	tag := tool.Tag(half)
	path := b.env.Cwd + "/h2"
	if got := b.snaps.Unseen(path, tag, []int{1, 600}); len(got) != 1 || got[0] != 600 {
		t.Errorf("unseen %v", got)
	}
}

func TestSeenLines(t *testing.T) {
	b := setup(t, map[string]string{"f": "1\n2\n3\n4\n"})
	b.paths("f:2-3")
	b.paths("f:raw")
	path, tag := b.env.Cwd+"/f", tool.Tag("1\n2\n3\n4\n")
	if got := fmt.Sprint(b.snaps.Unseen(path, tag, []int{1, 2, 3, 4})); got != "[1 4]" {
		t.Errorf("unseen %s", got)
	}
}
