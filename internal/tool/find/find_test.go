package find

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

func workspace(t testing.TB, paths ...string) tool.Env {
	files := make(map[string]string)
	for _, p := range paths {
		files[p] = ""
	}
	return tooltest.Workspace(t, files)
}

func run(t testing.TB, env tool.Env, absolute bool, args string) tool.Result {
	return New(vfs.OS(), tooltest.Sources(t), absolute).Run(context.Background(), env, json.RawMessage(args))
}

func TestFind(t *testing.T) {
	env := workspace(t, "src/a.go", "src/deep/a.go", "src/b.go", "Src.txt", "doc/readme.md", "doc/ünï.md", "empty/", ".hidden/a.go", "target/a.go")
	for _, tc := range []struct{ name, args, want string }{
		{"earlier is better", `{"query":"a.go"}`, "src/a.go\nsrc/deep/a.go"},
		{"every word", `{"query":"deep go"}`, "src/deep/a.go"},
		{"any case", `{"query":"SRC"}`, "Src.txt\nsrc/a.go\nsrc/b.go\nsrc/deep/a.go"},
		{"characters in order", `{"query":"rdm"}`, "doc/readme.md"},
		{"not ascii", `{"query":"ÜNÏ"}`, "doc/ünï.md"},
		{"nothing", `{"query":"zzz"}`, ""},
		{"directories", `{"query":"e","kind":"directories"}`, "empty/\nsrc/deep/"},
		{"mixed", `{"query":"deep","kind":"mixed"}`, "src/deep/\nsrc/deep/a.go"},
		{"path", `{"query":"a.go","path":"src"}`, "src/a.go\nsrc/deep/a.go"},
		{"path repeated", `{"query":"src/a.go","path":"./src/"}`, "src/a.go\nsrc/deep/a.go"},
		{"path alone", `{"query":"src","path":"src"}`, ""},
		{"limit", `{"query":"go","limit":1}`, "src/a.go"},
		{"offset", `{"query":"go","limit":1,"offset":1}`, "src/b.go"},
		{"offset beyond", `{"query":"go","offset":9}`, ""},
		{"intent and null", `{"query":"b.go","intent":"look","path":null,"limit":null}`, "src/b.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, true, tc.args)
			if d := cmp.Diff(tc.want, res.Content); d != "" || !res.Success {
				t.Errorf("success %v\n%s", res.Success, d)
			}
		})
	}
}

func TestFindErrors(t *testing.T) {
	env := workspace(t, "a.txt", "d/")
	outside := t.TempDir()
	os.Symlink(outside, filepath.Join(env.Cwd, "out"))
	for _, tc := range []struct{ name, args, want string }{
		{"no query", `{}`, `"query" is required`},
		{"null query", `{"query":null}`, `"query" is required`},
		{"blank", `{"query":"  "}`, "1 to 512"},
		{"long", `{"query":"` + strings.Repeat("é", 513) + `"}`, "1 to 512"},
		{"kind", `{"query":"a","kind":"links"}`, `"kind"`},
		{"limit low", `{"query":"a","limit":0}`, "from 1 to 200"},
		{"limit high", `{"query":"a","limit":201}`, "from 1 to 200"},
		{"offset", `{"query":"a","offset":-1}`, `"offset"`},
		{"type", `{"query":5}`, `"query" must be a string`},
		{"unknown", `{"query":"a","glob":"x"}`, `unknown field "glob"`},
		{"file", `{"query":"a","path":"a.txt"}`, "not a directory"},
		{"missing", `{"query":"a","path":"nope"}`, "no such file"},
		{"empty path", `{"query":"a","path":""}`, "must not be empty"},
		{"parent", `{"query":"a","path":".."}`, "path escapes cwd"},
		{"link", `{"query":"a","path":"out"}`, "capabilities.tools.find.absolute_paths"},
		{"absolute", `{"query":"a","path":"` + outside + `"}`, "path escapes cwd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(t, env, false, tc.args); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%v %q", res.Success, res.Content)
			}
		})
	}
	if res := run(t, env, true, `{"query":"a","path":"`+env.Cwd+`/d"}`); !res.Success {
		t.Error(res.Content)
	}
}

func TestFindMetadata(t *testing.T) {
	env := workspace(t, "a1", "a2", "a3", "b")
	res := run(t, env, true, `{"query":"a","limit":2,"path":"."}`)
	m := res.Metadata
	for key, want := range map[string]any{
		"matches_returned": 2, "total_matched": 3, "total_matched_exact": true, "truncated": true,
		"entries_scanned": 4, "has_more": true, "scan_complete": true, "timed_out": false, "path": ".",
	} {
		if m[key] != want {
			t.Errorf("%s = %v, want %v", key, m[key], want)
		}
	}
	s := m["structured_result"].(map[string]any)
	if s["next_offset"] != 2 || s["complete"] != false || len(s["files"].([]string)) != 2 {
		t.Errorf("%v", s)
	}
	if len(res.Touched) != 1 || !res.Touched[0].Directory || res.Touched[0].Kind != "search" {
		t.Errorf("%+v", res.Touched)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res := New(vfs.OS(), tooltest.Sources(t), true).Run(ctx, env, json.RawMessage(`{"query":"a"}`)); res.Content != tool.CancelledText {
		t.Errorf("cancelled: %q", res.Content)
	}
}

// TestFindOracle compares with a slow search over all paths.
func TestFindOracle(t *testing.T) {
	names := []string{"a", "b", "ab", "ba", "a-b", "Ab.go", "é.go"}
	base := t.TempDir()
	src := tooltest.Sources(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		os.MkdirAll(root, 0o755)
		defer os.RemoveAll(root)
		var all []hit
		dirs := []string{""}
		for range rapid.IntRange(1, 25).Draw(rt, "entries") {
			path := rapid.SampledFrom(dirs).Draw(rt, "parent") + rapid.SampledFrom(names).Draw(rt, "name")
			if slices.ContainsFunc(all, func(h hit) bool { return h.path == path }) {
				continue
			}
			dir := rapid.Bool().Draw(rt, "dir")
			if dir {
				os.Mkdir(filepath.Join(root, path), 0o755)
				dirs = append(dirs, path+"/")
			} else {
				os.WriteFile(filepath.Join(root, path), nil, 0o644)
			}
			all = append(all, hit{path: path, dir: dir})
		}
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "/", "go", "é", "A"}), 1, 3).Draw(rt, "query"), rapid.SampledFrom([]string{" ", ""}).Draw(rt, "join"))
		limit, offset := rapid.IntRange(1, 5).Draw(rt, "limit"), rapid.IntRange(0, 5).Draw(rt, "offset")
		want := oracle(all, query)
		want = want[min(offset, len(want)):]
		want = want[:min(limit, len(want))]
		env := tool.Env{Cwd: root, CanonicalCwd: root}
		args, _ := json.Marshal(map[string]any{"query": query, "kind": "mixed", "limit": limit, "offset": offset})
		got := New(vfs.OS(), src, true).Run(context.Background(), env, args)
		if d := cmp.Diff(strings.Join(want, "\n"), got.Content); d != "" {
			rt.Fatalf("%q: %s", query, d)
		}
	})
}

// oracle scores as tools.md 1.12 words it.
func oracle(all []hit, query string) []string {
	var hits []hit
next:
	for _, h := range all {
		path := strings.ToLower(h.path)
		for _, word := range strings.Fields(strings.ToLower(query)) {
			i := strings.Index(path, word)
			if i >= 0 {
				h.score += 10000 - i
				continue
			}
			rest := []rune(path)
			for _, c := range word {
				j := slices.Index(rest, c)
				if j < 0 {
					continue next
				}
				rest = rest[j+1:]
			}
			h.score += len([]rune(word))
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return strings.Compare(a.path, b.path)
	})
	var out []string
	for _, h := range hits {
		if h.dir {
			h.path += "/"
		}
		out = append(out, h.path)
	}
	return out
}
