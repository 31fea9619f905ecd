package astgrep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/ignore"
	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(t testing.TB, env tool.Env, args string) tool.Result {
	return New(vfs.OS(), tooltest.Sources(t), false).Run(context.Background(), env, json.RawMessage(args))
}

func TestSearch(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{
		"src/a.go":        "package a\n\nfunc f() {\n\tg(1)\n\tg(\n\t\tg(2),\n\t)\n}\n",
		"src/b.py":        "g(1)\nx = g(3)\n",
		"src/c.tsx":       "const x = <A b={g(4)} />\n",
		"src/c.ts":        "g(5)\n",
		"crlf.go":         "package a\r\nvar x = g(6)\r\n",
		"broken.go":       "package a\nfunc h() {\n\tx := := 1\n\tg(7)\n}\n",
		".gitignore":      "gen/\n",
		"gen/d.go":        "package d\nvar x = g(8)\n",
		".hidden/e.go":    "package e\nvar x = g(9)\n",
		"target/f.rs":     "fn f() { g(10); }\n",
		"notes.txt":       "g(11)\n",
		"script":          "g(12)\n",
		"src/deep/g.rs":   "fn f() { g(13); }\n",
		"odd\nname/h.js":  "g(14)\n",
		"node_modules.js": "",
	})
	for _, tc := range []struct{ name, args, want string }{
		{"all languages", `{"pattern":"g($A)"}`, "broken.go:4:\tg(7)\ncrlf.go:2:var x = g(6)\n\"odd\\nname/h.js\":1:g(14)\nsrc/a.go:4:\tg(1)\nsrc/a.go:5:\tg(\nsrc/a.go:6:\t\tg(2),\nsrc/a.go:7:\t)\nsrc/b.py:1:g(1)\nsrc/b.py:2:x = g(3)\nsrc/c.ts:1:g(5)\nsrc/c.tsx:1:const x = <A b={g(4)} />\nsrc/deep/g.rs:1:fn f() { g(13); }"},
		{"one language", `{"pattern":"g($A)","language":"python"}`, "src/b.py:1:g(1)\nsrc/b.py:2:x = g(3)"},
		{"a language of one package", `{"pattern":"g($A)","language":"typescript"}`, "src/c.ts:1:g(5)\nsrc/c.tsx:1:const x = <A b={g(4)} />"},
		{"short name", `{"pattern":"g($A)","language":"TS","path":"src"}`, "src/c.ts:1:g(5)\nsrc/c.tsx:1:const x = <A b={g(4)} />"},
		{"a directory", `{"pattern":"g(1)","path":"src"}`, "src/a.go:4:\tg(1)\nsrc/b.py:1:g(1)"},
		{"a file", `{"pattern":"g($A)","path":"src/b.py"}`, "src/b.py:1:g(1)\nsrc/b.py:2:x = g(3)"},
		{"a file without an ending", `{"pattern":"g($A)","path":"script","language":"js"}`, "script:1:g(12)"},
		{"an ignored file by name", `{"pattern":"g($A)","path":"gen/d.go"}`, "gen/d.go:2:var x = g(8)"},
		{"no hit", `{"pattern":"nothing($A)"}`, ""},
		{"explicit search", `{"operation":"search","pattern":"g(3)","intent":"look"}`, "src/b.py:2:x = g(3)"},
		{"null is absent", `{"pattern":"g(3)","rewrite":null,"language":null,"limit":null}`, "src/b.py:2:x = g(3)"},
		{"a pattern of one language only", `{"pattern":"def $F(): $$$"}`, ""},
		{"rewrite", `{"pattern":"g($A)","rewrite":"h($A, 0)","path":"src/b.py"}`, "@@ src/b.py:1 bytes 0..4 @@\n-g(1)\n+h(1, 0)\n@@ src/b.py:2 bytes 9..13 @@\n-g(3)\n+h(3, 0)"},
		{"rewrite of the outermost", `{"pattern":"g($A)","rewrite":"h(\n$A)","path":"src/a.go"}`, "@@ src/a.go:4 bytes 23..27 @@\n-g(1)\n+h(\n+1)\n@@ src/a.go:5 bytes 29..42 @@\n-g(\n-\t\tg(2),\n-\t)\n+h(\n+g(2))"},
		{"rewrite to nothing", `{"pattern":"g(3)","rewrite":"","path":"src/b.py"}`, "@@ src/b.py:2 bytes 9..13 @@\n-g(3)\n+"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, tc.args)
			if d := cmp.Diff(tc.want, res.Content); d != "" || !res.Success {
				t.Errorf("success %v (-want +got):\n%s", res.Success, d)
			}
			code := 0
			if tc.want == "" {
				code = 1
			}
			if res.Metadata["exit_code"] != code || res.Metadata["timed_out"] != false || res.Metadata["truncated"] != false {
				t.Errorf("metadata %v", res.Metadata)
			}
		})
	}
	for name, want := range map[string]string{"src/a.go": "package a\n\nfunc f() {\n\tg(1)\n\tg(\n\t\tg(2),\n\t)\n}\n", "src/b.py": "g(1)\nx = g(3)\n"} {
		if got, _ := os.ReadFile(filepath.Join(env.Cwd, name)); string(got) != want {
			t.Errorf("%s was changed: %q", name, got)
		}
	}
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Fatal(err)
	}
}

func TestRefused(t *testing.T) {
	outside := tooltest.Workspace(t, map[string]string{"x.go": "package x\n"})
	env := tooltest.Workspace(t, map[string]string{"a.go": "package a\n", "b.txt": "x", "c.py": "x\n"})
	os.Symlink(outside.Cwd, filepath.Join(env.Cwd, "out"))
	mkfifo(t, filepath.Join(env.Cwd, "pipe.go"))
	for _, tc := range []struct{ name, args, want string }{
		{"no pattern", `{}`, `"pattern" is required`},
		{"blank pattern", `{"pattern":" \n"}`, `"pattern" is required`},
		{"long pattern", `{"pattern":"` + strings.Repeat("a", 4097) + `"}`, "4096 bytes"},
		{"long rewrite", `{"pattern":"a()","rewrite":"` + strings.Repeat("a", 4097) + `"}`, "4096 bytes"},
		{"wrong pattern", `{"pattern":"f(","language":"go"}`, "not one complete construct of go"},
		{"wrong pattern in every language there is", `{"pattern":"f(("}`, "not one complete construct of go"},
		{"metavariable alone", `{"pattern":"$A"}`, "matches everything"},
		{"unknown metavariable", `{"pattern":"f($A)","rewrite":"$B","language":"go"}`, "uses $B"},
		{"unknown field", `{"pattern":"a","strict":1}`, `"strict"`},
		{"wrong type", `{"pattern":1}`, `"pattern"`},
		{"operation", `{"operation":"replace"}`, `"operation"`},
		{"language", `{"pattern":"a()","language":"cobol"}`, `"language"`},
		{"limit", `{"pattern":"a()","limit":501}`, "from 1 to 500"},
		{"limit 0", `{"pattern":"a()","limit":0}`, "from 1 to 500"},
		{"outline field in a search", `{"pattern":"a()","view":"names"}`, `"view" does not belong to search`},
		{"search field in an outline", `{"operation":"outline","pattern":"a()"}`, `"pattern" does not belong to outline`},
		{"items", `{"operation":"outline","items":"some"}`, `"items"`},
		{"view", `{"operation":"outline","view":"short"}`, `"view"`},
		{"name", `{"operation":"outline","name":"("}`, `"name"`},
		{"long name", `{"operation":"outline","name":"` + strings.Repeat("a", 513) + `"}`, "512 bytes"},
		{"empty path", `{"pattern":"a()","path":""}`, `"path"`},
		{"missing path", `{"pattern":"a()","path":"nowhere"}`, "no such file"},
		{"up", `{"pattern":"a()","path":".."}`, "escapes cwd"},
		{"absolute", `{"pattern":"a()","path":"` + outside.Cwd + `"}`, "capabilities.tools.ast_grep.absolute_paths"},
		{"through a link", `{"pattern":"a()","path":"out"}`, "escapes cwd"},
		{"a pipe", `{"pattern":"a()","path":"pipe.go"}`, "neither a regular file"},
		{"unknown ending", `{"pattern":"a()","path":"b.txt"}`, `give "language"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(t, env, tc.args); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("success %v: %s", res.Success, res.Content)
			}
		})
	}
}

func TestTouched(t *testing.T) {
	outside := tooltest.Workspace(t, map[string]string{"x.go": "package x\nvar y = f()\n"})
	env := tooltest.Workspace(t, map[string]string{"d/a.go": "package a\n"})
	abs := New(vfs.OS(), tooltest.Sources(t), true)
	for _, tc := range []struct {
		path string
		want tool.Touched
	}{
		{"d", tool.Touched{Path: filepath.Join(env.Cwd, "d"), Kind: "search", Success: true, InsideCwd: true, Directory: true}},
		{"d/a.go", tool.Touched{Path: filepath.Join(env.Cwd, "d/a.go"), Kind: "search", Success: true, InsideCwd: true}},
		{outside.Cwd, tool.Touched{Path: outside.Cwd, Kind: "search", Success: true, Directory: true}},
	} {
		res := abs.Run(context.Background(), env, json.RawMessage(fmt.Sprintf(`{"pattern":"f()","path":%q}`, tc.path)))
		if d := cmp.Diff([]tool.Touched{tc.want}, res.Touched); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.path, d)
		}
	}
	if res := run(t, env, `{"pattern":"f()"}`); res.Touched != nil {
		t.Errorf("without a path: %v", res.Touched)
	}
}

func TestBounds(t *testing.T) {
	many := "package a\n" + strings.Repeat("var _ = f(1)\n", 600)
	wide := "package a\nvar x = f(" + strings.Repeat("1, ", 20_000) + "1)\n"
	env := tooltest.Workspace(t, map[string]string{
		"many/a.go":      many,
		"wide/a.go":      wide,
		"wides/a.py":     strings.Repeat("f('"+strings.Repeat("é", 1900)+"')\n", 60),
		"large/a.go":     "package a\nvar x = f(1)\n//" + strings.Repeat("x", maxFileBytes),
		"large/b.go":     "package a\nvar x = f(2)\n",
		"binary/a.go":    "package a\nvar x = f(1)\n\x00",
		"latin/a.py":     "f(1) # caf\xe9\n",
		"deep/a.js":      "x = " + strings.Repeat("(", 50_000) + "f(1)" + strings.Repeat(")", 50_000),
		"deep/b.js":      "f(2)",
		"outline/a.py":   strings.Repeat("x = 1\n", 17_000),
		"outlines/a.py":  strings.Repeat("class A:\n    def f(self, a, b, c): pass\n", 600),
		"linkdir/ok.go":  "package a\nvar x = f(3)\n",
		"linkdir/sub.py": "f(4)\n",
	})
	os.Symlink("ok.go", filepath.Join(env.Cwd, "linkdir/link.go"))
	mkfifo(t, filepath.Join(env.Cwd, "linkdir/pipe.go"))
	for _, tc := range []struct {
		name, args string
		rows       int // -1: not told
		facts      map[string]any
	}{
		{"default limit", `{"pattern":"f(1)","path":"many"}`, 100, map[string]any{"truncated": true, "matches_returned": 100, "partial": false, "scan_complete": false}},
		{"largest limit", `{"pattern":"f(1)","path":"many","limit":500}`, 500, map[string]any{"truncated": true, "stdout_truncated": false}},
		{"exactly the limit", `{"pattern":"f(2)","path":"large","limit":1}`, 1, map[string]any{"truncated": false}},
		{"limit of a rewrite", `{"pattern":"f(1)","rewrite":"g()","path":"many","limit":2}`, 6, map[string]any{"truncated": true, "matches_returned": 2}},
		{"long line", `{"pattern":"f($$$)","path":"wide"}`, 1, map[string]any{"truncated": false}},
		{"output", `{"pattern":"f($A)","path":"wides"}`, 17, map[string]any{"truncated": true, "stdout_truncated": true}},
		{"large file", `{"pattern":"f($A)","path":"large"}`, 1, map[string]any{"files_skipped": 1, "partial": true, "files_scanned": 2}},
		{"binary file", `{"pattern":"f($A)","path":"binary"}`, 0, map[string]any{"files_skipped": 1, "partial": true}},
		{"not UTF-8", `{"pattern":"f($A)","path":"latin"}`, 0, map[string]any{"files_skipped": 1}},
		{"nested too deeply", `{"pattern":"f($A)","path":"deep"}`, 1, map[string]any{"files_skipped": 1, "partial": true}},
		{"links and pipes", `{"pattern":"f($A)","path":"linkdir"}`, 2, map[string]any{"files_skipped": 0, "files_scanned": 2}},
		{"nodes of an outline", `{"operation":"outline","path":"outline/a.py","name":"^y$"}`, 0, map[string]any{"truncated": false, "partial": true}},
		{"output of an outline", `{"operation":"outline","path":"outlines","view":"expanded","limit":500}`, -1, map[string]any{"stdout_truncated": true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, tc.args)
			rows := 0
			if res.Content != "" {
				rows = strings.Count(res.Content, "\n") + 1
			}
			if rows != tc.rows && tc.rows >= 0 || !res.Success || len(res.Content) > maxOutput {
				t.Errorf("success %v, %d rows, %d bytes: %.300s", res.Success, rows, len(res.Content), res.Content)
			}
			for k, want := range tc.facts {
				if res.Metadata[k] != want {
					t.Errorf("%s: %v, want %v", k, res.Metadata[k], want)
				}
			}
		})
	}
}

func TestScanBounds(t *testing.T) {
	s := &scan{limit: 10}
	s.out.bytes = maxScanBytes - 5
	s.out.join(&fileResult{bytes: 6, groups: []group{{"row"}}}, 10)
	if !s.out.byteLimit || !s.out.ended() || s.out.groups != 0 {
		t.Errorf("over the bytes of a scan: %+v", s.out)
	}
	if testing.Short() {
		return
	}
	files := map[string]string{}
	for i := range maxFiles + 1 {
		files[fmt.Sprintf("d%03d/f%03d.py", i/100, i%100)] = ""
	}
	env := tooltest.Workspace(t, files)
	if m := run(t, env, `{"pattern":"f()"}`).Metadata; m["files_scanned"] != maxFiles || m["truncated"] != true || m["partial"] != true {
		t.Errorf("metadata %v", m)
	}
}

func TestCancelled(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a.go": "package a\nvar x = f()\n"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range []string{`{"pattern":"f()"}`, `{"operation":"outline"}`} {
		if res := New(vfs.OS(), tooltest.Sources(t), false).Run(ctx, env, json.RawMessage(args)); res.Success || res.Content != tool.CancelledText {
			t.Errorf("%v: %s", res.Success, res.Content)
		}
	}
}

// TestDefinition: the schema is JSON and names every argument.
func TestDefinition(t *testing.T) {
	d := New(vfs.OS(), ignore.Sources{}, true).Definition()
	var schema struct {
		Properties           map[string]any `json:"properties"`
		AdditionalProperties *bool          `json:"additionalProperties"`
	}
	if err := json.Unmarshal(d.Parameters, &schema); err != nil || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
		t.Fatalf("%v: %s", err, d.Parameters)
	}
	want := []string{"operation", "pattern", "rewrite", "language", "path", "items", "view", "name", "symbol_type", "pub_members", "limit"}
	for _, name := range want {
		if schema.Properties[name] == nil {
			t.Errorf("%s is not described", name)
		}
	}
	if len(schema.Properties) != len(want) || d.Name != "ast_grep" || !strings.HasPrefix(d.Description, "ast_grep: ") {
		t.Errorf("%d properties of %s", len(schema.Properties), d.Name)
	}
}
