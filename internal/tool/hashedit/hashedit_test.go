package hashedit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/vfs"
)

// locks are taken without files: what locks do is tested where they are made.
type locks struct{ held map[string]int }

func (l *locks) Lock(ctx context.Context, path string) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.held[path]++
	return func() { l.held[path]-- }, nil
}

// bench is a workspace with a tool and its snapshots.
type bench struct {
	t     testing.TB
	env   tool.Env
	locks *locks
	snaps *tool.Snapshots
	tool  *Tool
}

func newBench(t testing.TB, fsys vfs.FS) *bench {
	env := tooltest.Workspace(t, nil)
	b := &bench{t: t, env: env, locks: &locks{map[string]int{}}, snaps: &tool.Snapshots{}}
	b.tool = New(tool.Files{FS: fsys, Locks: b.locks}, b.snaps, true)
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.env.Cwd, name) }

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// read records a file as read does, all of it or some lines, and gives its tag.
func (b *bench) read(name string, span ...int) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	text := tool.Normalize(data)
	first, last := 1, tool.LineCount(text)
	if len(span) == 2 {
		first, last = span[0], span[1]
	}
	b.snaps.Record(b.path(name), tool.Tag(text), text, first, last)
	return tool.Tag(text)
}

func (b *bench) get(name string) string {
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

func (b *bench) run(input string) tool.Result {
	args, _ := json.Marshal(map[string]string{"input": input})
	res := b.tool.Run(context.Background(), b.env, args)
	for path, n := range b.locks.held {
		if n != 0 {
			b.t.Errorf("lock of %s: %d", path, n)
		}
	}
	return res
}

// TestApply: one file, one section, the tag of the present text. TAG stands for it.
func TestApply(t *testing.T) {
	const abc = "a\nb\nc\n"
	for _, tc := range []struct{ name, file, before, ops, want string }{
		{"swap", "f.txt", abc, "SWAP 2.=2:\n+B\n+b2", "a\nB\nb2\nc\n"},
		{"swap without colon", "f.txt", abc, "SWAP 2\n+B", "a\nB\nc\n"},
		{"swap, rows missing", "f.txt", abc, "SWAP 1-2:", "c\n"},
		{"separators", "f.txt", abc, "SWAP 1 .. 2:\n+x", "x\nc\n"},
		{"ellipsis", "f.txt", abc, "SWAP 1…2:\n+x", "x\nc\n"},
		{"delete", "f.txt", abc, "DEL 2", "a\nc\n"},
		{"delete range", "f.txt", abc, "DEL 1.=3", ""},
		{"delete phantom too", "f.txt", abc, "DEL 3.=4", "a\nb\n"},
		{"before and after", "f.txt", abc, "INS.PRE 2:\n+x\nINS.POST 2:\n+y", "a\nx\nb\ny\nc\n"},
		{"order around one line", "f.txt", abc, "INS.POST 2:\n+post\nSWAP 2:\n+swap\nINS.PRE 2:\n+pre", "a\npre\nswap\npost\nc\n"},
		{"before a deleted line", "f.txt", abc, "DEL 1.=3\nINS.PRE 2:\n+x", "x\n"},
		{"after the line above", "f.txt", abc, "INS.PRE 2:\n+y\nINS.POST 1:\n+x", "a\nx\ny\nb\nc\n"},
		{"head and tail", "f.txt", abc, "INS.HEAD:\n+h\nINS.TAIL:\n+t", "h\na\nb\nc\nt\n"},
		{"tail without final newline", "f.txt", "a", "INS.TAIL:\n+t", "a\nt"},
		{"empty file", "f.txt", "", "INS.TAIL:\n+t\n+u", "t\nu"},
		{"numbers do not shift", "f.txt", abc, "INS.HEAD:\n+h\nDEL 3", "h\na\nb\n"},
		{"one plus is taken off", "f.txt", abc, "SWAP 2:\n++x\n+ y\n+", "a\n+x\n y\n\nc\n"},
		{"row that looks like a header", "f.txt", abc, "SWAP 2:\n+[x]", "a\n[x]\nc\n"},
		{"blank row inside a body", "f.txt", abc, "SWAP 2:\n+x\n\n+y\n\n", "a\nx\n\ny\nc\n"},
		{"bare rows", "f.txt", abc, "SWAP 2:\nx = 1\n# y", "a\nx = 1\n# y\nc\n"},
		{"numbered bare rows", "f.txt", abc, "SWAP 2:\n2:x\n3: y", "a\nx\n y\nc\n"},
		{"numbered map entries", "f.txt", abc, "SWAP 2:\n2: \"x\",\n3: 4", "a\n2: \"x\",\n3: 4\nc\n"},
		{"comment", "f.txt", abc, "# why\n# more\nDEL 2", "a\nc\n"},
		{"lone dot", "f.txt", abc, "SWAP 2 .:\n+x", "a\nx\nc\n"},
		{"indented operation", "f.txt", abc, "  DEL 2  ", "a\nc\n"},
		{"end of the patch", "f.txt", abc, "DEL 2\n*** End Patch\nnonsense", "a\nc\n"},
		{"CRLF", "f.txt", "a\r\nb\r\nc\r\n", "SWAP 2:\n+x\n+y", "a\r\nx\r\ny\r\nc\r\n"},
		{"mark", "f.txt", "\ufeffa\nb\n", "SWAP 1:\n+x", "\ufeffx\nb\n"},
		{"mark and CRLF", "f.txt", "\ufeffa\r\nb", "INS.POST 2:\n+x", "\ufeffa\r\nb\r\nx"},
		{"patch with CRLF", "f.txt", abc, "SWAP 2:\r\n+x\r\nDEL 3", "a\nx\n"},
		{"repeated rows on both sides", "f.txt", "f {\nold\n}\n", "SWAP 2:\n+f {\n+new\n+}", "f {\nnew\n}\n"},
		{"repeated row above", "f.txt", "a\nb\nc\nd\n", "SWAP 2.=3:\n+a\n+x", "a\nx\nd\n"},
		{"repeated closer below", "f.txt", "if {\nx\n}\nend\n", "SWAP 2:\n+y\n+}", "if {\ny\n}\nend\n"},
		{"repeated word below one line stays", "f.txt", abc, "SWAP 2:\n+x\n+c", "a\nx\nc\nc\n"},
		{"insert past closers", "f.go", "func a() {\n\tx()\n}\n\nz\n", "INS.POST 2:\n+func b() {\n+}", "func a() {\n\tx()\n}\nfunc b() {\n}\n\nz\n"},
		{"go block", "f.go", "package a\n\nfunc f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "SWAP.BLK 4:\n+\tz()", "package a\n\nfunc f() {\n\tz()\n}\n"},
		{"go function", "f.go", "package a\n\nfunc f() {\n\tx()\n}\n\nvar v = 1\n", "DEL.BLK 3", "package a\n\n\nvar v = 1\n"},
		{"after a go block", "f.go", "package a\n\nfunc f() {\n\tx()\n}\n", "INS.BLK.POST 3:\n+\n+func g() {}", "package a\n\nfunc f() {\n\tx()\n}\n\nfunc g() {}\n"},
		{"into a go block", "f.go", "package a\n\nfunc f() {\n\tx()\n}\n", "INS.BLK.POST 3:\n+\ty()", "package a\n\nfunc f() {\n\tx()\n\ty()\n}\n"},
		{"python block", "f.py", "def f():\n    x = [\n1]\n\n    return x\n\ny = 1\n", "SWAP.BLK 1:\n+def g(): pass", "def g(): pass\n\ny = 1\n"},
		{"python decorator", "f.py", "@a\n@b(1)\ndef f():\n    pass\nx = 1\n", "DEL.BLK 1", "x = 1\n"},
		{"python long string", "f.py", "x = '''\ndef f():\n    '''\ny = 1\n", "DEL.BLK 1", "y = 1\n"},
		{"python branch with the others", "f.py", "if a:\n    b\nelif c:\n    d\ne\n", "DEL.BLK 1", "e\n"},
		{"python one branch", "f.py", "if a:\n    b\nelse:\n    d\ne\n", "DEL.BLK 3", "if a:\n    b\ne\n"},
		{"javascript function", "f.js", "// x\nfunction f() {\n  if (a) {\n    b()\n  }\n}\ng()\n", "SWAP.BLK 2:\n+const f = 1", "// x\nconst f = 1\ng()\n"},
		{"javascript inner block", "f.jsx", "function f() {\n  if (a) {\n    b()\n  } else {\n    c()\n  }\n}\n", "DEL.BLK 4", "function f() {\n  if (a) {\n    b()\n}\n"},
		{"javascript call with a function", "f.js", "it('x', () => {\n  y()\n})\nz()\n", "INS.BLK.POST 1:\n+w()", "it('x', () => {\n  y()\n})\nw()\nz()\n"},
		{"javascript object", "f.js", "const a = {\n  b: {\n    c: 1,\n  },\n  d: 2,\n}\n", "DEL.BLK 2", "const a = {\n  d: 2,\n}\n"},
		{"typescript interface", "f.ts", "interface A {\n  b: string\n}\ntype C = {\n  d: number\n}\n", "SWAP.BLK 4:\n+type C = number", "interface A {\n  b: string\n}\ntype C = number\n"},
		{"typescript decorators", "f.ts", "class A {\n  @b()\n  @c\n  d(): void {\n    e()\n  }\n  f = 1\n}\n", "DEL.BLK 2", "class A {\n  f = 1\n}\n"},
		{"tsx element", "f.tsx", "const A = () => (\n  <div>\n    <B\n      c\n    />\n    {d}\n  </div>\n)\n", "DEL.BLK 3", "const A = () => (\n  <div>\n    {d}\n  </div>\n)\n"},
		{"rust function with attributes", "f.rs", "#[test]\n#[ignore]\nfn f() {\n    a!();\n}\nfn g() {}\n", "DEL.BLK 1", "fn g() {}\n"},
		{"rust arm", "f.rs", "fn f() {\n    match a {\n        B => {\n            c();\n        }\n        D => e(),\n    }\n}\n", "SWAP.BLK 3:\n+        B => c(),", "fn f() {\n    match a {\n        B => c(),\n        D => e(),\n    }\n}\n"},
		{"rust implementation", "f.rs", "impl A {\n    fn b() {}\n}\n", "INS.BLK.POST 1:\n+    fn c() {}", "impl A {\n    fn b() {}\n    fn c() {}\n}\n"},
		{"two blocks, one parse", "f.rs", "fn a() {\n}\nfn b() {\n}\nfn c() {}\n", "DEL.BLK 1\nDEL.BLK 3", "fn c() {}\n"},
		{"block in CRLF", "f.go", "package a\r\nfunc f() {\r\n}\r\nvar x int\r\n", "DEL.BLK 2", "package a\r\nvar x int\r\n"},
		{"block unsupported, insert", "f.txt", abc, "INS.BLK.POST 1:\n+x", "a\nx\nb\nc\n"},
		{"noop", "f.txt", abc, "SWAP 2:\n+b", abc},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, vfs.OS())
			b.put(tc.file, tc.before)
			res := b.run("[" + tc.file + "#" + b.read(tc.file) + "]\n" + tc.ops)
			if d := cmp.Diff(tc.want, b.get(tc.file)); d != "" || !res.Success {
				t.Fatalf("%s\n%s", res.Content, d)
			}
			tag := tool.Tag(tool.Normalize([]byte(tc.want)))
			if !strings.Contains(res.Content, "["+b.path(tc.file)+"#"+tag+"]") {
				t.Errorf("no tag %s in %q", tag, res.Content)
			}
			if _, ok := b.snaps.Find(b.path(tc.file), tag); !ok {
				t.Error("no snapshot of the new text")
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	for _, form := range []string{"[f.txt#TAG]", "[f.txt#tag]  ", "[*** Update File: f.txt#TAG]", "[* update: f.txt#TAG]", "[\"f.txt\"#TAG]", "['f.txt#TAG']", "[./f.txt#TAG]", "[CWD/f.txt#TAG]", "*** Begin Patch\n\n[f.txt#TAG]", "\ufeff[f.txt#TAG]"} {
		b := newBench(t, vfs.OS())
		b.put("f.txt", "a\nb\n")
		tag := b.read("f.txt")
		head := strings.NewReplacer("TAG", tag, "tag", strings.ToLower(tag), "CWD", b.env.Cwd).Replace(form)
		if res := b.run(head + "\nDEL 1"); !res.Success || b.get("f.txt") != "b\n" {
			t.Errorf("%s: %s", form, res.Content)
		}
	}
}

// TestRefused: nothing is written.
func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, input, want string }{
		{"empty", " \n ", "must not be empty"},
		{"large", strings.Repeat("x", 256<<10+1), "too large"},
		{"no header", "DEL 1", "starts with a header"},
		{"unified diff", "@@ -1 +1 @@", "unified diff"},
		{"diff later", "[f.txt#TAG]\n@@ -1 @@", "unified diff"},
		{"apply patch", "[f.txt#TAG]\n*** Update File: f", "apply-patch"},
		{"no section", "[f.txt#TAG]\n\n", "no section"},
		{"bad header", "[f.txt#12]\nDEL 1", "must be a header"},
		{"header in a body", "[f.txt#TAG]\nSWAP 1:\n+x\n[1, 2", "must be a header"},
		{"missing tag", "[f.txt]\nDEL 1", "has no tag"},
		{"two tags", "[f.txt#TAG]\nDEL 1\n[f.txt#0000]\nDEL 2", "two different tags"},
		{"unknown tag", "[f.txt#0000]\nDEL 1", "not shown in this session"},
		{"range", "[f.txt#TAG]\nDEL 3.=2", "ends before it starts"},
		{"zero", "[f.txt#TAG]\nDEL 0", "wants a line number"},
		{"leading zero", "[f.txt#TAG]\nDEL 01", "wants a line number"},
		{"beyond", "[f.txt#TAG]\nDEL 5", "there are 3 lines"},
		{"twice", "[f.txt#TAG]\nDEL 1.=2\nSWAP 2:\n+x", "deleted by two operations"},
		{"delete with colon", "[f.txt#TAG]\nDEL 1:", "takes no colon"},
		{"delete with rows", "[f.txt#TAG]\nDEL 1\n+x", "belongs to no operation"},
		{"insert without rows", "[f.txt#TAG]\nINS.PRE 1:\nDEL 2", "needs at least one row"},
		{"insert of a range", "[f.txt#TAG]\nINS.PRE 1.=2:\n+x", "one line number"},
		{"bare number", "[f.txt#TAG]\n2\n+x", "needs a verb"},
		{"bare row without operation", "[f.txt#TAG]\nhello", "not an operation"},
		{"minus row", "[f.txt#TAG]\nSWAP 1:\n-x", "start with - are refused"},
		{"comment alone", "[f.txt#TAG]\n# c\n\nDEL 1", "comment only directly before"},
		{"comment at the end", "[f.txt#TAG]\nDEL 1\n# c", "comment only directly before"},
		{"lower case", "[f.txt#TAG]\ndel 1", "not an operation"},
		{"remove with operations", "[f.txt#TAG]\nDEL 1\nREM", "REM stands alone"},
		{"two ends", "[f.txt#TAG]\nMV a\nMV b", "only one MV or REM"},
		{"move nowhere", "[f.txt#TAG]\nMV  ", "needs a destination"},
		{"move to existing", "[f.txt#TAG]\nMV g.txt", "destination exists"},
		{"move to missing directory", "[f.txt#TAG]\nMV no/g", "directory of the destination"},
		{"move out", "[f.txt#TAG]\nMV ../g", "path escapes cwd"},
		{"missing file", "[nope.txt#TAG1]\nDEL 1", "must be a header"},
		{"no such file", "[nope.txt#ABCD]\nDEL 1", "no such file"},
		{"directory", "[dir#ABCD]\nDEL 1", "not a regular file"},
		{"link", "[link.txt#ABCD]\nDEL 1", "symbolic link"},
		{"one file by two names", "[f.txt#TAG]\nDEL 1\n[dir/../f.txt#TAG]\nDEL 1", "deleted by two"},
		{"block unsupported", "[f.txt#TAG]\nDEL.BLK 1", "not supported"},
		{"text in the operation", "[f.txt#TAG]\nSWAP 1: x", "wants a line number"},
		{"too large", "[f.txt#TAG]\n" + strings.Repeat("INS.TAIL:\n+"+strings.Repeat("x", 60000)+"\n", 4), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, vfs.OS())
			b.put("f.txt", "a\nb\nc\n")
			b.put("g.txt", "g\n")
			os.Mkdir(b.path("dir"), 0o755)
			os.Symlink("f.txt", b.path("link.txt"))
			res := b.run(strings.ReplaceAll(tc.input, "TAG", b.read("f.txt")))
			if tc.want == "" {
				if !res.Success {
					t.Error(res.Content)
				}
				return
			}
			if res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%v %q", res.Success, res.Content)
			}
			if got := b.get("f.txt"); got != "a\nb\nc\n" || len(res.Changed) > 0 {
				t.Errorf("changed: %q %v", got, res.Changed)
			}
		})
	}
}

func TestBlocksRefused(t *testing.T) {
	for _, tc := range []struct{ name, file, text, ops, want string }{
		{"blank line", "f.go", "package a\n\nvar x = 1\n", "DEL.BLK 2", "no block"},
		{"one line", "f.go", "package a\n\nvar x = 1\n", "DEL.BLK 3", "no block"},
		{"broken go", "f.go", "package a\nfunc f( {\n}\n", "DEL.BLK 2", "syntax errors"},
		{"inside", "f.py", "x = [\n  1,\n  2,\n]\n", "DEL.BLK 2", "no block"},
		{"broken python", "f.py", "def f(:\n  x = (\n", "DEL.BLK 1", "syntax errors"},
		{"broken rust", "f.rs", "fn f( {\n}\n", "DEL.BLK 1", "syntax errors"},
		{"broken typescript", "f.ts", "function f() {\n  let = = 1\n}\n", "DEL.BLK 1", "syntax errors"},
		{"comment", "f.js", "/* a\n b */\nc()\n", "DEL.BLK 1", "no block"},
		{"closing line", "f.rs", "fn f() {\n    a();\n}\n", "DEL.BLK 3", "no block"},
		{"another ending", "f.mjs", "function f() {\n}\n", "DEL.BLK 1", "not supported"},
		{"too deep", "f.js", "x = " + strings.Repeat("(", 20000) + "\n" + strings.Repeat(")", 20000) + "\n", "DEL.BLK 1", "nested too deeply"},
		{"without rows", "f.go", "package a\nfunc f() {\n}\n", "SWAP.BLK 2:", "at least one row"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, vfs.OS())
			b.put(tc.file, tc.text)
			if res := b.run("[" + tc.file + "#" + b.read(tc.file) + "]\n" + tc.ops); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%v %q", res.Success, res.Content)
			}
		})
	}
}

func TestSeenLines(t *testing.T) {
	b := newBench(t, vfs.OS())
	b.put("f.txt", "a\nb\nc\nd\n")
	tag := b.read("f.txt", 1, 2)
	patch := "[f.txt#" + tag + "]\nSWAP 2.=3:\n+x"
	res := b.run(patch)
	if res.Success || !strings.Contains(res.Content, "\n3:c") || strings.Contains(res.Content, "\n2:b") {
		t.Fatalf("%q", res.Content)
	}
	if res.Metadata["outcome"] != "stale_tag" || res.Metadata["error_kind"] != "unseen_lines" {
		t.Errorf("%v", res.Metadata)
	}
	if res = b.run(patch); !res.Success || b.get("f.txt") != "a\nx\nd\n" {
		t.Fatalf("after they were shown: %q", res.Content)
	}
	// More than 40 at once are not taken for seen.
	b.put("g.txt", strings.Repeat("x\n", 100))
	patch = "[g.txt#" + b.read("g.txt", 1, 1) + "]\nDEL 1.=100"
	for range 2 {
		if res = b.run(patch); res.Success || !strings.Contains(res.Content, "and 59 more") {
			t.Fatalf("%q", res.Content)
		}
	}
	// A tag that was never recorded is refused although it is the right one.
	b.put("h.txt", "h\n")
	if res = b.run("[h.txt#" + tool.Tag("h\n") + "]\nDEL 1"); res.Success || res.Metadata["error_kind"] != "unknown_tag" {
		t.Fatalf("%q", res.Content)
	}
}

func TestStale(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, tc := range []struct{ name, now, ops, want, warning string }{
		{"far away", "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "SWAP 8:\n+x", "one\n2\n3\n4\n5\n6\n7\nx\n9\n10\n", "same place"},
		{"moved down", "0\n" + ten, "SWAP 8:\n+x", "0\n1\n2\n3\n4\n5\n6\n7\nx\n9\n10\n", "moved by +1"},
		{"moved up", "3\n4\n5\n6\n7\n8\n9\n10\n", "DEL 8\nINS.POST 9:\n+x", "3\n4\n5\n6\n7\n9\nx\n10\n", "moved by -2"},
		{"line itself changed", "1\n2\n3\n4\n5\n6\n7\neight\n9\n10\n", "SWAP 8:\n+x", "", ""},
		{"neighbour changed", "1\n2\n3\n4\n5\n6\nseven\n8\n9\n10\n", "SWAP 8:\n+x", "", ""},
		{"two shifts", "0\n1\n2\n3\n4\n4.5\n5\n6\n7\n8\n9\n10\n", "DEL 2\nDEL 8", "", ""},
		{"ends only", "new\n", "INS.HEAD:\n+h\nINS.TAIL:\n+t", "h\nnew\nt\n", "not the present tag"},
		{"remove", ten + "11\n", "REM", "", ""},
		{"move", ten + "11\n", "MV g.txt", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, vfs.OS())
			b.put("f.txt", ten)
			tag := b.read("f.txt")
			b.put("f.txt", tc.now)
			res := b.run("[f.txt#" + tag + "]\n" + tc.ops)
			if tc.want == "" {
				if res.Success || b.get("f.txt") != tc.now || res.Metadata["error_kind"] != "changed" || res.Metadata["expected_tag"] != tag {
					t.Errorf("%q %v", res.Content, res.Metadata)
				}
				return
			}
			if d := cmp.Diff(tc.want, b.get("f.txt")); d != "" || !res.Success || !strings.Contains(res.Content, tc.warning) || res.Metadata["stale_recovery"] != true {
				t.Errorf("%s\n%s", res.Content, d)
			}
		})
	}
}

// TestOldSnapshot: with an older tag than the last one, equal lines suffice.
func TestOldSnapshot(t *testing.T) {
	b := newBench(t, vfs.OS())
	b.put("f.txt", "1\n2\n3\n4\n")
	old := b.read("f.txt")
	b.put("f.txt", "1\n2\nthree\n4\n")
	patch := "[f.txt#" + old + "]\nSWAP 2:\n+x"
	if res := b.run(patch); res.Success {
		t.Fatalf("the newest snapshot is this one: %q", res.Content)
	}
	b.read("f.txt")
	if res := b.run(patch); !res.Success || b.get("f.txt") != "1\nx\nthree\n4\n" || !strings.Contains(res.Content, "as many lines") {
		t.Fatalf("%q", res.Content)
	}
}

func TestMoveAndRemove(t *testing.T) {
	b := newBench(t, vfs.OS())
	b.put("a.txt", "a\nb\n")
	os.Chmod(b.path("a.txt"), 0o750)
	res := b.run("[a.txt#" + b.read("a.txt") + "]\nSWAP 1:\n+x\nMV \"b c.txt\"")
	info, err := os.Stat(b.path("b c.txt"))
	if !res.Success || err != nil || b.get("b c.txt") != "x\nb\n" || info.Mode().Perm() != 0o750 {
		t.Fatalf("%q %v", res.Content, err)
	}
	if _, err := os.Lstat(b.path("a.txt")); err == nil {
		t.Error("the source is still there")
	}
	if len(res.Changed) != 2 || res.Metadata["path"] != b.path("b c.txt") {
		t.Errorf("%v %v", res.Changed, res.Metadata)
	}
	tag := tool.Tag("x\nb\n")
	res = b.run("[b c.txt#" + tag + "]\nREM")
	if !res.Success || !strings.Contains(res.Content, "delete "+b.path("b c.txt")) || res.Metadata["removed"] != 2 {
		t.Fatalf("%q", res.Content)
	}
	if _, ok := b.snaps.Find(b.path("b c.txt"), tag); ok {
		t.Error("the snapshot is still there")
	}
}

// TestLostPath: a header without the directory is understood by its tag.
func TestLostPath(t *testing.T) {
	b := newBench(t, vfs.OS())
	os.MkdirAll(b.path("d"), 0o755)
	os.MkdirAll(b.path("e"), 0o755)
	b.put("d/f.txt", "a\nb\n")
	tag := b.read("d/f.txt")
	if res := b.run("[f.txt#" + tag + "]\nDEL 1"); !res.Success || b.get("d/f.txt") != "b\n" {
		t.Fatalf("%q", res.Content)
	}
	b.put("d/f.txt", "a\nb\n")
	b.put("e/f.txt", "a\nb\n")
	b.read("d/f.txt")
	b.read("e/f.txt")
	if res := b.run("[f.txt#" + tag + "]\nDEL 1"); res.Success || !strings.Contains(res.Content, "several files") {
		t.Fatalf("%q", res.Content)
	}
}

func TestSuccessReport(t *testing.T) {
	b := newBench(t, vfs.OS())
	b.put("a.txt", "1\n2\n3\n")
	b.put("b.go", "package b\n\nfunc f() {\n\tx()\n}\n")
	res := b.run(fmt.Sprintf("[a.txt#%s]\nSWAP 2:\nbare\n[b.go#%s]\nSWAP.BLK 3:\n+func f() {}", b.read("a.txt"), b.read("b.go")))
	want := fmt.Sprintf(`applied 2 hash_edit section(s)
update [%[1]s/a.txt#%[2]s]
update [%[1]s/b.go#%[3]s]
warnings:
- bare body rows were taken as text; put a + before each row
block resolutions:
- Replace anchor 3 -> 3..5
first_changed_line %[1]s/a.txt: 2
first_changed_line %[1]s/b.go: 3`, b.env.Cwd, tool.Tag("1\nbare\n3\n"), tool.Tag("package b\n\nfunc f() {}\n"))
	if d := cmp.Diff(want, res.Content); d != "" {
		t.Error(d)
	}
	for key, want := range map[string]any{"outcome": "success", "sections": 2, "committed": 2, "added": 2, "removed": 4, "stale_recovery": false, "path": b.path("b.go")} {
		if res.Metadata[key] != want {
			t.Errorf("%s = %v, want %v", key, res.Metadata[key], want)
		}
	}
	files := res.Metadata["files"].([]map[string]any)
	if len(files) != 2 || files[0]["status"] != "committed" || files[1]["operation"] != "update" {
		t.Errorf("%v", files)
	}
}
