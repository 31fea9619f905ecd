package grep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(t testing.TB, env tool.Env, args string) tool.Result {
	return New(vfs.OS(), tooltest.Sources(t), false).Run(context.Background(), env, json.RawMessage(args))
}

func TestGrep(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{
		"src/a.go":     "package a\n// sum\nfunc add() {\n\treturn add(1, 2)\n}\n",
		"src/b.py":     "import add\nx = 1\ndef add(a):\n    return a\nclass add:\n",
		"many.txt":     strings.Repeat("hit\n", 9),
		"crlf.txt":     "one\r\ntwo\r\n",
		"bin.dat":      "add\x00add",
		"bad.txt":      "caf\xe9 add\n",
		"deep/x/y.txt": "braces {a} and f(x\n",
		"empty.txt":    "",
		"noeol.txt":    "last line",
		"use.rs":       "use add;\n",
		".hidden":      "add\n",
	})
	for _, tc := range []struct{ name, args, want string }{
		{"ranked", `{"patterns":["add"]}`, "src/b.py\n[def-like] 3:def add(a):\n[def-like] 5:class add:\n[import] 1:import add\nuse.rs\n[import] 1:use add;\nbad.txt\n[match] 1:caf\uFFFD add\nsrc/a.go\n[match] 3:func add() {\n[match] 4:\treturn add(1, 2)"},
		{"raw", `{"patterns":["add"],"mode":"raw"}`, "bad.txt:1:caf\uFFFD add\nsrc/a.go:3:func add() {\nsrc/a.go:4:\treturn add(1, 2)\nsrc/b.py:1:import add\nsrc/b.py:3:def add(a):\nsrc/b.py:5:class add:\nuse.rs:1:use add;"},
		{"legacy is raw", `{"pattern":"two"}`, "crlf.txt:2:two"},
		{"several", `{"patterns":["two$","^last"],"mode":"raw"}`, "crlf.txt:2:two\nnoeol.txt:1:last line"},
		{"five of a file", `{"patterns":["hit"]}`, "many.txt\n[match] 1:hit\n[match] 2:hit\n[match] 3:hit\n[match] 4:hit\n[match] 5:hit"},
		{"ranked context", `{"patterns":["return add"],"context":1}`, "src/a.go\n[match] 4:\treturn add(1, 2)\n3:func add() {\n5:}"},
		{"raw context", `{"patterns":["sum|return add"],"context":1,"mode":"raw"}`, "src/a.go-1-package a\nsrc/a.go:2:// sum\nsrc/a.go-3-func add() {\nsrc/a.go:4:\treturn add(1, 2)\nsrc/a.go-5-}"},
		{"file", `{"patterns":["add"],"path":"src/a.go","limit":1}`, "src/a.go\n[match] 3:func add() {"},
		{"hidden file when named", `{"patterns":["add"],"path":".hidden","mode":"raw"}`, ".hidden:1:add"},
		{"directory", `{"patterns":["braces"],"path":"deep/x","mode":"raw"}`, "deep/x/y.txt:1:braces {a} and f(x"},
		{"limit and offset", `{"patterns":["hit"],"mode":"raw","limit":2,"offset":3}`, "many.txt:4:hit\nmany.txt:5:hit"},
		{"stray braces", `{"patterns":["braces {a}"],"mode":"raw"}`, "deep/x/y.txt:1:braces {a} and f(x"},
		{"stray parenthesis", `{"patterns":["f(x"],"mode":"raw"}`, "deep/x/y.txt:1:braces {a} and f(x"},
		{"stray bracket", `{"patterns":["x["]}`, ""},
		{"case", `{"patterns":["ADD"]}`, ""},
		{"any case", `{"patterns":["(?i)LAST"],"mode":"raw"}`, "noeol.txt:1:last line"},
		{"no hit", `{"patterns":["zebra"],"intent":"look"}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, tc.args)
			if d := cmp.Diff(tc.want, res.Content); d != "" || !res.Success {
				t.Errorf("success %v\n%s", res.Success, d)
			}
		})
	}
}

func TestGrepErrors(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a": "x"})
	if err := exec.Command("mkfifo", filepath.Join(env.Cwd, "fifo")).Run(); err != nil {
		t.Fatal(err)
	}
	os.Symlink("/", filepath.Join(env.Cwd, "out"))
	long := strings.Repeat("é", 512)
	for _, tc := range []struct{ name, args, want string }{
		{"none", `{}`, "1 to 8"},
		{"empty list", `{"patterns":[]}`, "1 to 8"},
		{"nine", `{"patterns":["a","a","a","a","a","a","a","a","a"]}`, "1 to 8"},
		{"blank", `{"patterns":["a"," "]}`, "blank"},
		{"long", `{"patterns":["` + long + `e"]}`, "longer than 512"},
		{"together", `{"patterns":["` + strings.Join([]string{long, long, long, long, "x"}, `","`) + `"]}`, "4096 bytes together"},
		{"control", `{"patterns":["a\u0007"]}`, "control character"},
		{"both", `{"patterns":["a"],"pattern":"a"}`, `"patterns" only`},
		{"mode", `{"patterns":["a"],"mode":"fast"}`, `"mode"`},
		{"limit", `{"patterns":["a"],"limit":201}`, "1 to 200"},
		{"offset", `{"patterns":["a"],"offset":10001}`, "0 to 10000"},
		{"context", `{"patterns":["a"],"context":21}`, "0 to 20"},
		{"type", `{"patterns":"a"}`, `"patterns" must be an array`},
		{"element", `{"patterns":[1]}`, `"patterns/0" must be a string`},
		{"unknown", `{"patterns":["a"],"glob":"*"}`, `unknown field "glob"`},
		{"missing", `{"patterns":["a"],"path":"b"}`, "no such file"},
		{"fifo", `{"patterns":["a"],"path":"fifo"}`, "neither a regular file"},
		{"link out", `{"patterns":["a"],"path":"out"}`, "path escapes cwd"},
		{"parent", `{"patterns":["a"],"path":"../"}`, "path escapes cwd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(t, env, tc.args); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%v %q", res.Success, res.Content)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res := New(vfs.OS(), tooltest.Sources(t), true).Run(ctx, env, json.RawMessage(`{"patterns":["x"]}`)); res.Content != tool.CancelledText || res.Success {
		t.Errorf("cancelled: %+v", res)
	}
}

func TestGrepBounds(t *testing.T) {
	line := strings.Repeat("x", 300) + "needle" + strings.Repeat("é", 300)
	env := tooltest.Workspace(t, map[string]string{
		"long.txt": line + "\n",
		"big.txt":  strings.Repeat("filler line\n", 4<<20/12+1) + "needle\n",
		"wide.txt": strings.Repeat(strings.Repeat("w", 3000)+"\n", 60),
	})
	res := run(t, env, `{"patterns":["needle"],"path":"long.txt"}`)
	if text := strings.TrimPrefix(res.Content, "long.txt\n[match] 1:"); len(text) > 240 || !strings.Contains(text, "xneedleé") || !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	res = run(t, env, `{"patterns":["needle"]}`)
	if strings.Contains(res.Content, "big.txt") || res.Metadata["byte_limit_reached"] != true || res.Metadata["scan_complete"] != false {
		t.Errorf("prefix: %q %v", res.Content, res.Metadata)
	}
	res = run(t, env, `{"patterns":["w+"],"mode":"raw","context":2}`)
	if len(res.Content) > 65536 || res.Metadata["output_byte_limit_reached"] != true || res.Metadata["has_more"] != true {
		t.Errorf("%d bytes, %v", len(res.Content), res.Metadata["output_byte_limit_reached"])
	}
	if n := res.Metadata["matches_returned"].(int); res.Metadata["next_offset"] != n {
		t.Errorf("next offset %v after %d", res.Metadata["next_offset"], n)
	}
}

func TestGrepScanBounds(t *testing.T) {
	files := map[string]string{}
	for i := range 33 {
		files[fmt.Sprintf("f%02d", i)] = ""
	}
	env := tooltest.Workspace(t, files)
	for name := range files { // sparse: no disk space
		if err := os.Truncate(filepath.Join(env.Cwd, name), 4<<20); err != nil {
			t.Fatal(err)
		}
	}
	res := run(t, env, `{"patterns":["x"]}`)
	if res.Metadata["scan_byte_limit_reached"] != true || res.Metadata["bytes_scanned"] != 128<<20 || res.Metadata["binary_files_skipped"] != 32 {
		t.Errorf("%v", res.Metadata)
	}
}

func TestGrepMetadata(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a": "x\nx\nx\n", "b": "x\n", "c": "y\x00", "d": "\xff"})
	m := run(t, env, `{"patterns":["x","{"],"mode":"raw","limit":2}`).Metadata
	for key, want := range map[string]any{
		"matches_returned": 2, "has_more": true, "next_offset": 2, "raw_lookahead_reached": true, "truncated": true,
		"patterns_count": 2, "patterns_adjusted": 1, "literal_fallbacks": 0, "output_format": "raw_v1", "order": "path_line_v1",
	} {
		if m[key] != want {
			t.Errorf("%s = %v, want %v", key, m[key], want)
		}
	}
	m = run(t, env, `{"patterns":["x"]}`).Metadata
	for key, want := range map[string]any{
		"matches_returned": 4, "matches_seen": 4, "matches_seen_exact": true, "has_more": false, "scan_complete": true,
		"files_scanned": 4, "files_with_matches": 2, "files_returned": 2, "binary_files_skipped": 1, "invalid_utf8_files": 1,
		"output_format": "grouped_v1", "limit_reason": nil, "output_lines_returned": 6,
	} {
		if m[key] != want {
			t.Errorf("%s = %v, want %v", key, m[key], want)
		}
	}
}

// TestGrepOracle compares with regexp over all lines, one after the other.
func TestGrepOracle(t *testing.T) {
	src := tooltest.Sources(t)
	base := t.TempDir()
	n := 0
	lineGen := rapid.SampledFrom([]string{"", "foo", "foo bar", "bar\tbaz", "def foo(x):", "import foo", "use bar", "é foo", "func x() { foo }", "class bar", "FOO"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(root)
		files := map[string][]string{}
		for range rapid.IntRange(1, 6).Draw(rt, "files") {
			name := rapid.SampledFrom([]string{"a.go", "b.py", "c.txt", "d/a.go", "d/e/f.rs", "d-x.txt"}).Draw(rt, "name")
			files[name] = rapid.SliceOfN(lineGen, 0, 12).Draw(rt, "lines")
		}
		for name, lines := range files {
			os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
			os.WriteFile(filepath.Join(root, name), []byte(strings.Join(lines, "\n")), 0o644)
		}
		patterns := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"foo", "bar", "ba[rz]", "^$", "o+ b", "\\bfoo\\b", "(?i)foo", "x|z", "é"}), 1, 3, rapid.ID).Draw(rt, "patterns")
		mode := rapid.SampledFrom([]string{"raw", "ranked"}).Draw(rt, "mode")
		limit, offset := rapid.IntRange(1, 8).Draw(rt, "limit"), rapid.IntRange(0, 6).Draw(rt, "offset")
		args, _ := json.Marshal(map[string]any{"patterns": patterns, "mode": mode, "limit": limit, "offset": offset})
		got := New(vfs.OS(), src, true).Run(context.Background(), tool.Env{Cwd: root, CanonicalCwd: root}, args)
		if d := cmp.Diff(oracle(files, patterns, mode == "ranked", limit, offset), got.Content); d != "" {
			rt.Fatalf("%s: %s", args, d)
		}
	})
}

type oracleHit struct {
	path []string
	line int
	kind int
	text string
}

func oracle(files map[string][]string, patterns []string, ranked bool, limit, offset int) string {
	var hits []oracleHit
	for name, lines := range files {
		var own []oracleHit
		if len(lines) > 0 && lines[len(lines)-1] == "" { // a final line feed starts no line
			lines = lines[:len(lines)-1]
		}
		for i, line := range lines {
			if !slices.ContainsFunc(patterns, func(p string) bool { return regexp.MustCompile(p).MatchString(line) }) {
				continue
			}
			kind := 2
			if strings.HasPrefix(line, "use ") || strings.HasPrefix(line, "import ") {
				kind = 1
			}
			code := slices.Contains([]string{".go", ".py", ".rs"}, filepath.Ext(name))
			if code && regexp.MustCompile(`(fn|def|class|struct) `).MatchString(line) {
				kind = 0
			}
			own = append(own, oracleHit{strings.Split(name, "/"), i + 1, kind, line})
		}
		if ranked {
			slices.SortStableFunc(own, func(a, b oracleHit) int { return a.kind - b.kind })
			own = own[:min(5, len(own))]
		}
		hits = append(hits, own...)
	}
	slices.SortFunc(hits, func(a, b oracleHit) int {
		if ranked && a.kind != b.kind {
			return a.kind - b.kind
		}
		if c := slices.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.line - b.line
	})
	hits = hits[min(offset, len(hits)):]
	hits = hits[:min(limit, len(hits))]
	var out []string
	last := ""
	for _, h := range hits {
		path := strings.Join(h.path, "/")
		if !ranked {
			out = append(out, fmt.Sprintf("%s:%d:%s", path, h.line, h.text))
			continue
		}
		if path != last {
			out = append(out, path)
		}
		last = path
		out = append(out, fmt.Sprintf("[%s] %d:%s", []string{"def-like", "import", "match"}[h.kind], h.line, h.text))
	}
	return strings.Join(out, "\n")
}

func TestRepair(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`a{2}`, `a{2}`}, {`a{2,}`, `a{2,}`}, {`a{2,3}`, `a{2,3}`}, {`a{b}`, `a\{b\}`}, {`{`, `\{`}, {`}`, `\}`}, {`\{x\}`, `\{x\}`},
		{`\x{e9}`, `\x{e9}`}, {`\p{Greek}`, `\p{Greek}`}, {`a{,3}`, `a\{,3\}`}, {`func(`, `func\(`}, {`(a`, `\(a`}, {`[(]a)`, `[(]a\)`},
		{`*a`, `\*a`}, {`a\`, `a\\`}, {`é{`, `é\{`}, {`\é{`, `\\é\{`},
	} {
		e := &expression{}
		got := e.repair(tc.in)
		if got != tc.want && tc.in != `\é{` {
			t.Errorf("%q: %q, want %q", tc.in, got, tc.want)
		}
		if _, err := regexp.Compile(got); err != nil {
			t.Errorf("%q: %q does not compile", tc.in, got)
		}
	}
}
