package astgrep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/syntax"
)

// found returns the texts that a pattern matches and what its metavariables
// stand for.
func found(t testing.TB, language, text, src string) []string {
	t.Helper()
	l := syntax.ByName(language)
	p, err := compile(context.Background(), l, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var parser syntax.Parser
	tree, err := parser.Parse(context.Background(), l, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Broken {
		t.Fatalf("the source does not fit: %s", src)
	}
	m := matcher{tree: tree, stop: func() bool { return false }}
	var out []string
	for _, x := range m.find(p, 100) {
		s := src[x.start:x.end]
		for _, b := range x.bindings {
			s += fmt.Sprintf(" %s=%s", b.name, src[b.start:b.end])
		}
		out = append(out, strings.Join(strings.Fields(s), " "))
	}
	return out
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		name, language, pattern, src string
		want                         []string
	}{
		{"go call", "go", "f($A)", "package a\nfunc b() { f(1); f(1, 2); g(f(x+1)) }", []string{"f(1) A=1", "f(x+1) A=x+1"}},
		{"go nested", "go", "f($A)", "package a\nvar x = f(f(1))", []string{"f(f(1)) A=f(1)", "f(1) A=1"}},
		{"go any number", "go", "f($$$A)", "package a\nvar x, y, z = f(), f(1), f(1, g(2), 3)", []string{"f() A=", "f(1) A=1", "f(1, g(2), 3) A=1, g(2), 3"}},
		{"go first and rest", "go", "f($A, $$$B)", "package a\nvar x, y, z = f(), f(1), f(1, 2, 3)", []string{"f(1) A=1 B=", "f(1, 2, 3) A=1 B=2, 3"}},
		{"go last", "go", "f($$$A, $B)", "package a\nvar x, y, z = f(), f(1), f(1, 2, 3)", []string{"f(1) A= B=1", "f(1, 2, 3) A=1, 2 B=3"}},
		{"go in the middle", "go", "f($$$, 2, $$$)", "package a\nvar w, x, y, z = f(2), f(1), f(1, 2, 3), f(2, 3)", []string{"f(2)", "f(1, 2, 3)", "f(2, 3)"}},
		{"go equal names", "go", "$A == $A", "package a\nvar x, y, z = b == b, b == c, f( 1 ) == f(1 /* one */)", []string{"b == b A=b", "f( 1 ) == f(1 /* one */) A=f( 1 )"}},
		{"go equal names without a name", "go", "$_ == $_", "package a\nvar x = b == c", []string{"b == c"}},
		{"go operators differ", "go", "$A + $B", "package a\nvar x, y = 1 + 2, 1 - 2", []string{"1 + 2 A=1 B=2"}},
		{"go function", "go", "func $F($$$P) error { $$$B }", "package a\nfunc f(a int) error { x(); return nil }\nfunc g() {}\nfunc (r T) h() error { return nil }", []string{"func f(a int) error { x(); return nil } F=f P=a int B=x(); return nil"}},
		{"go method", "go", "func ($R) $F() { $$$ }", "package a\nfunc (r *T) h() { y() }\nfunc g() {}", []string{"func (r *T) h() { y() } R=r *T F=h"}},
		{"go statement", "go", "if err != nil { return $$$R }", "package a\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err == nil {\n\t\treturn err\n\t}\n\treturn nil\n}", []string{"if err != nil { return err } R=err"}},
		{"go assignment", "go", "$A, err := $F($$$)", "package a\nfunc f() { x, err := g(1); y := g(2) }", []string{"x, err := g(1) A=x F=g"}},
		{"go type", "go", "map[string]$T", "package a\nvar x map[string]int\nvar y map[int]string", []string{"map[string]int T=int"}},
		{"go struct", "go", "type $N struct { $$$F }", "package a\ntype A struct {\n\tb int\n\tc string\n}\ntype B int", []string{"type A struct { b int c string } N=A F=b int c string"}},
		{"go case", "go", "case $A: $$$B", "package a\nfunc f() { switch x { case 1: y(); case 2: default: z() } }", []string{"case 1: y(); A=1 B=y()", "case 2: A=2 B="}},
		{"go composite", "go", "T{A: $X, $$$}", "package a\nvar x, y = T{A: 1, B: 2}, T{B: 1}", []string{"T{A: 1, B: 2} X=1"}},
		{"go comments do not count", "go", "f(1, 2)", "package a\nvar x = f(1, // one\n\t2)", []string{"f(1, // one 2)"}},

		{"python call", "python", "print($A)", "print(1)\nprint(1, 2)\nx = [print(y) for y in z]\n", []string{"print(1) A=1", "print(y) A=y"}},
		{"python keyword argument", "python", "f($$$, timeout=$T, $$$)", "f(1, timeout=2)\nf(timeout=3, a=1)\nf(a=1)\n", []string{"f(1, timeout=2) T=2", "f(timeout=3, a=1) T=3"}},
		{"python function", "python", "def $F($$$A): $$$B", "def f(a, b=1):\n    x = 1\n    return x\nclass C:\n    async def g(self): pass\n", []string{"def f(a, b=1): x = 1 return x F=f A=a, b=1 B=x = 1 return x", "async def g(self): pass F=g A=self B=pass"}},
		{"python class", "python", "class $C($B): $$$", "class A(Base):\n    x = 1\nclass B: pass\n", []string{"class A(Base): x = 1 C=A B=Base"}},
		{"python block of several lines", "python", "if $A:\n    return $B", "def f():\n    if x:\n        return 1\n    if y:\n        z()\n        return 2\n", []string{"if x: return 1 A=x B=1"}},
		{"python except", "python", "try: $$$A\nexcept $E: pass", "try:\n    f()\nexcept ValueError:\n    pass\n", []string{"try: f() except ValueError: pass A=f() E=ValueError"}},
		{"python decorator", "python", "@$D\ndef $F($$$): $$$", "@cached\ndef f(): return 1\ndef g(): return 2\n", []string{"@cached def f(): return 1 D=cached F=f"}},
		{"python not in", "python", "$A not in $B", "a   not   in b\na in b\nnot a in b\n", []string{"a not in b A=a B=b"}},
		{"python in a string", "python", "f($A)", "print(f'{f(1)}: {f(x)!r}', 'f(2)')\n", []string{"f(1) A=1", "f(x) A=x"}},
		{"python string with an expression", "python", "f'{$A}.py'", "g(f'{x.y}.py', f'{x}.go')\n", []string{"f'{x.y}.py' A=x.y"}},
		{"python equal names", "python", "$A = $A + $B", "x = x + 1\ny = x + 1\n", []string{"x = x + 1 A=x B=1"}},
		{"python subscript", "python", "$D[$K]", "a[b]\na.c[1:2]\n", []string{"a[b] D=a K=b", "a.c[1:2] D=a.c K=1:2"}},

		{"javascript call", "javascript", "console.log($$$A)", "console.log(); console.log(1, x); console.error(2)", []string{"console.log() A=", "console.log(1, x) A=1, x"}},
		{"javascript function in every form", "javascript", "function $F($$$) { $$$B }", "function f(a) { return 1 }\nconst x = function g() { h() }", []string{"function f(a) { return 1 } F=f B=return 1", "function g() { h() } F=g B=h()"}},
		{"javascript async is a keyword", "javascript", "function $F() {}", "async function f() {}", []string{"async function f() {} F=f"}},
		{"javascript arrow", "javascript", "$A => $B", "x.map(y => y + 1); z((a) => a)", []string{"y => y + 1 A=y B=y + 1", "(a) => a A=(a) B=a"}},
		{"javascript arrow with brackets", "javascript", "($$$A) => { $$$B }", "f((a, b) => { g(); h() })", []string{"(a, b) => { g(); h() } A=a, b B=g(); h()"}},
		{"javascript object or block", "javascript", "{ a: $V }", "x = { a: 1 }; x = { a: 1, b: 2 }; if (y) { a: f() }", []string{"{ a: 1 } V=1", "{ a: f() } V=f()"}},
		{"javascript object with the rest", "javascript", "{ a: $V, $$$ }", "x = { a: 1, b: 2 }; y = { b: 1 }", []string{"{ a: 1, b: 2 } V=1"}},
		{"javascript optional call is another", "javascript", "a.b($$$)", "a.b(1); a?.b(2)", []string{"a.b(1)"}},
		{"javascript await", "javascript", "await $A", "async () => { await f(); g() }", []string{"await f() A=f()"}},
		{"javascript import", "javascript", "import { $$$N } from 'm'", "import { a, b as c } from 'm'\nimport d from 'm'", []string{"import { a, b as c } from 'm' N=a, b as c"}},
		{"javascript class member", "javascript", "$M() { return $A }", "class C { f() { return 1 } g() { } }", []string{"f() { return 1 } M=f A=1"}},
		{"javascript declaration", "javascript", "const $A = require($B)", "const a = require('b'); let c = require('d')", []string{"const a = require('b') A=a B='b'"}},
		{"javascript template", "javascript", "`a${$X}`", "f(`a${b}`, `c${b}`)", []string{"`a${b}` X=b"}},
		{"javascript if with else", "javascript", "if ($C) { $$$ } else { $$$ }", "if (a) { b() } else { c() }\nif (d) { e() }", []string{"if (a) { b() } else { c() } C=a"}},
		{"javascript without a semicolon", "javascript", "return $A;", "function f() { return 1\n}", []string{"return 1 A=1"}},

		{"typescript annotation", "typescript", "const $N: $T = $V", "const a: string = 'x'; const b = 1", []string{"const a: string = 'x' N=a T=string V='x'"}},
		{"typescript generic", "typescript", "useState<$T>($$$)", "const [a] = useState<string[]>(null), b = useState(1)", []string{"useState<string[]>(null) T=string[]"}},
		{"typescript interface", "typescript", "interface $N { $$$M }", "interface A { b: string; c(): void }\ninterface D extends E { }", []string{"interface A { b: string; c(): void } N=A M=b: string; c(): void"}},
		{"typescript as", "typescript", "$A as any", "f(x as any, y as T)", []string{"x as any A=x"}},
		{"typescript type", "typescript", "Array<$T>", "let a: Array<number>; let b: T[]", []string{"Array<number> T=number"}},
		{"tsx element", "tsx", "<Button $$$A>$$$C</Button>", "x = <p><Button a={1} b>text {y}</Button></p>", []string{"<Button a={1} b>text {y}</Button> A=a={1} b C=text {y}"}},
		{"tsx empty element", "tsx", "<Icon name={$N} />", "x = <Icon name={a} />; y = <Icon size={b} />", []string{"<Icon name={a} /> N=a"}},

		{"rust method call", "rust", "$A.unwrap()", "fn f() { a.b()?.unwrap(); c.unwrap_or(d) }", []string{"a.b()?.unwrap() A=a.b()?"}},
		{"rust function", "rust", "fn $F($$$A) -> $R { $$$B }", "fn f(x: u8) -> u8 { x }\npub fn g() {}\nasync fn h() -> T { i() }", []string{"fn f(x: u8) -> u8 { x } F=f A=x: u8 R=u8 B=x", "async fn h() -> T { i() } F=h A= R=T B=i()"}},
		{"rust macro", "rust", "println!($F, $$$A)", "fn f() { println!(\"a\"); println!(\"{}\", x.y()); }", []string{"println!(\"a\") F=\"a\" A=", "println!(\"{}\", x.y()) F=\"{}\" A=x.y()"}},
		{"rust match", "rust", "match $X { $$$A }", "fn f() { match y { Some(z) => z, None => 0 } }", []string{"match y { Some(z) => z, None => 0 } X=y A=Some(z) => z, None => 0"}},
		{"rust arm", "rust", "None => $B", "fn f() { match y { Some(z) => z, None => 0 } }", []string{"None => 0 B=0"}},
		{"rust struct", "rust", "struct $N { $$$F }", "struct A { b: u8, c: T }\nstruct D;", []string{"struct A { b: u8, c: T } N=A F=b: u8, c: T"}},
		{"rust impl", "rust", "impl $T for $U { $$$ }", "impl Display for A { fn f() {} }\nimpl A { }", []string{"impl Display for A { fn f() {} } T=Display U=A"}},
		{"rust let", "rust", "let $A = $B.clone();", "fn f() { let a = b.clone(); let mut c = d.clone(); }", []string{"let a = b.clone() A=a B=b", "let mut c = d.clone() A=mut c B=d"}},
		{"rust if let", "rust", "if let Some($A) = $B { $$$ }", "fn f() { if let Some(x) = y { z() } }", []string{"if let Some(x) = y { z() } A=x B=y"}},
		{"rust path", "rust", "std::fs::$F($$$A)", "fn f() { std::fs::read(p); fs::read(p) }", []string{"std::fs::read(p) F=read A=p"}},
		{"rust reference", "rust", "&mut $A", "fn f() { g(&mut a, &b) }", []string{"&mut a A=a"}},
		{"rust type", "rust", "Option<$T>", "struct A { b: Option<Vec<u8>>, c: Vec<u8> }", []string{"Option<Vec<u8>> T=Vec<u8>"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, found(t, tc.language, tc.pattern, tc.src)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.pattern, d)
			}
		})
	}
}

func TestPatternsRefused(t *testing.T) {
	for _, tc := range []struct{ name, language, pattern, want string }{
		{"half an expression", "go", "f(", "not one complete construct of go"},
		{"two statements", "javascript", "a(); b()", "not one complete construct"},
		{"another language", "rust", "def f(): pass", "not one complete construct of rust"},
		{"a metavariable alone", "python", "$A", "matches everything"},
		{"any number alone", "go", "$$$", "matches everything"},
		{"too many nodes", "go", "f(" + strings.Repeat("a, ", 200) + "b)", "more than 256 nodes"},
		{"too deep", "javascript", strings.Repeat("(", 2000) + "a" + strings.Repeat(")", 2000), "cannot be read"},
		{"NUL", "go", "f(\x00)", "NUL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := compile(context.Background(), syntax.ByName(tc.language), tc.pattern)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestManyVariadics: a pattern that could be matched in very many ways ends at
// the bound of comparisons.
func TestManyVariadics(t *testing.T) {
	src := "package a\nvar x = f(" + strings.Repeat("a, ", 300) + "b)\n"
	p, err := compile(context.Background(), syntax.ByName("go"), "f($$$, $A, $$$, $B, $$$, $C, $$$, $D, $$$, $E, $$$, $E, nothing)")
	if err != nil {
		t.Fatal(err)
	}
	var parser syntax.Parser
	tree, _ := parser.Parse(context.Background(), syntax.ByName("go"), []byte(src))
	m := matcher{tree: tree, stop: func() bool { return false }}
	if got := m.find(p, 10); len(got) != 0 || !m.ended || m.steps > maxSteps+1 {
		t.Errorf("%d matches, ended %v after %d steps", len(got), m.ended, m.steps)
	}
	// The same pattern stops when the context ends.
	m = matcher{tree: tree, stop: func() bool { return true }}
	if m.find(p, 10); !m.ended || m.steps > 4096 {
		t.Errorf("ended %v after %d steps", m.ended, m.steps)
	}
}

func TestRewriteTexts(t *testing.T) {
	src := []byte("f(a, b, c)")
	m := match{0, len(src), []binding{{name: "A", start: 2, end: 3}, {name: "REST", start: 5, end: 9}, {name: "NONE"}}}
	names := map[string]bool{"A": true, "REST": true, "NONE": true}
	for rewrite, want := range map[string]string{
		"g($A)": "g(a)", "g($$$REST, $A)": "g(b, c, a)", "g($NONE)": "g()", "x": "x", "": "", "$a ${b} $ cost$": "$a ${b} $ cost$", "`${$A}`": "`${a}`", "$A$A": "aa",
	} {
		r, err := newRewrite(rewrite, names)
		if err != nil {
			t.Errorf("%s: %v", rewrite, err)
			continue
		}
		if got, ok := r.fill(src, m); got != want || !ok {
			t.Errorf("%s: %q, %v, want %q", rewrite, got, ok, want)
		}
	}
	for _, bad := range []string{"$B", "g($$$OTHER)", "$_"} {
		if _, err := newRewrite(bad, names); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	long := []byte(strings.Repeat("x", maxReplacement/2))
	r, _ := newRewrite("$A $A $A", names)
	if _, ok := r.fill(long, match{bindings: []binding{{name: "A", end: len(long)}}}); ok {
		t.Error("a replacement over the bound was made")
	}
}

// ownText checks that a pattern of a node's own text finds that node, and counts
// the nodes whose text can be a pattern of their kind.
func ownText(t testing.TB, l *syntax.Language, tree *syntax.Tree, most int) (tried, taken int) {
	for i := range tree.Nodes() {
		n := tree.Node(i)
		if !n.Named() || n.Len() == 0 || tried == most {
			continue
		}
		tried++
		p, err := compile(context.Background(), l, string(n.Text()))
		if err != nil || !slices.ContainsFunc(p.forms, func(f *form) bool { return f.root.kind == n.KindID() }) {
			continue // on its own it is nothing or something else, such as a list of parameters
		}
		taken++
		m := matcher{tree: tree, stop: func() bool { return false }}
		ok := slices.ContainsFunc(m.find(p, 1<<20), func(x match) bool { return x.start == n.Start() && x.end == n.End() })
		if !ok && !m.ended {
			t.Errorf("%s: %s is not found by its own text:\n%s", l.Name, n.Kind(), n.Text())
		}
	}
	return tried, taken
}

func TestOwnText(t *testing.T) {
	for language, src := range samples {
		l := syntax.ByName(language)
		var parser syntax.Parser
		tree, err := parser.Parse(context.Background(), l, []byte(src))
		if err != nil || tree.Broken {
			t.Fatalf("%s: %v, broken %v", language, err, tree != nil && tree.Broken)
		}
		if tried, taken := ownText(t, l, tree, 1<<20); taken*10 < tried*4 {
			t.Errorf("%s: only %d of %d nodes could be patterns", language, taken, tried)
		}
	}
}

// TestOwnTextOfSources does the same with the files of this repository's tools.
func TestOwnTextOfSources(t *testing.T) {
	files, _ := filepath.Glob("../*/*.go")
	if len(files) < 40 {
		t.Fatalf("only %d files", len(files))
	}
	var parser syntax.Parser
	tried, taken := 0, 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "$") {
			continue // a dollar sign may be a metavariable of the pattern
		}
		tree, err := parser.Parse(context.Background(), syntax.ByName("go"), src)
		if err != nil || tree.Broken {
			t.Fatalf("%s: %v", file, err)
		}
		a, b := ownText(t, tree.Language, tree, 60)
		tried, taken = tried+a, taken+b
	}
	if taken*10 < tried*5 {
		t.Errorf("only %d of %d nodes could be patterns", taken, tried)
	}
}

func FuzzOwnText(f *testing.F) {
	for i, l := range syntax.Languages() {
		f.Add(samples[l.Name], uint8(i))
	}
	f.Fuzz(func(t *testing.T, src string, which uint8) {
		l := syntax.Languages()[int(which)%len(syntax.Languages())]
		var parser syntax.Parser
		tree, err := parser.Parse(context.Background(), l, []byte(src))
		if err != nil || tree.Broken || strings.Contains(src, "$") {
			return // a dollar sign of the source would be a metavariable of the pattern
		}
		ownText(t, l, tree, 40)
	})
}

var samples = map[string]string{
	"go":         "package a\nimport \"fmt\"\ntype T[K comparable] struct {\n\ta, b int\n\tm map[string][]K\n}\nfunc (t *T[K]) F(x int, ys ...string) (n int, err error) {\n\tif v, ok := t.m[\"k\"]; ok && len(v) > x<<2 {\n\t\tfor i := range v { defer func() { _ = recover() }(); fmt.Println(v[i:], T[K]{a: 1}, *t) }\n\t}\n\tswitch y := any(x).(type) {\n\tcase int, string:\n\t\tgo t.F(-y, ys...)\n\tdefault:\n\t\treturn 0, nil\n\t}\n\tselect {\n\tcase c <- 1:\n\t}\nloop:\n\tfor ; x < 1; x++ {\n\t\tcontinue loop\n\t}\n\tx += 1\n\treturn\n}\n",
	"python":     "import a.b as c\nfrom . import d\n@e(1)\nclass F(G, metaclass=H):\n    x: int = 1\n    async def i(self, *j, k=2, **l) -> m:\n        async with n as o, p:\n            yield [q for r in s if not t]\n        return {**u, 'v': w[1:2, ...]}\ntry:\n    assert x == y, 'z'\nexcept (A, B) as e:\n    raise C from e\nelse:\n    del d\nfinally:\n    pass\nwhile a and b or not c:\n    x, *y = lambda z, w=1: z if w else -z ** 2\nfor i in range(3): print(f'{i}', (i,), await j)\nmatch x:\n    case [1, 2] | {'a': b} if c:\n        global g\n",
	"javascript": "import a, { b as c } from 'd'\nexport default class E extends F { #g = 1; static h(...i) { super.h(i) } get [j]() { return this?.k ?? `l${m}n` } }\nconst { o, p: [q = 1], ...r } = async (s) => { for await (const t of u) { if (!v) continue; else break } }\nswitch (w) { case 1: throw new X(y ? /z/g : -1); default: label: do { a++ } while (b) }\ntry { f`c` } catch { delete d.e } finally { void 0 }\nfor (let i = 0, n = 1; i < n; i += 2) g(...h, { i, [j]: k, l() {} }, typeof m)\nexport const { x } = y\n",
	"typescript": "interface A<T extends B = C> extends D { readonly e?: F[]; (g: H): I; [j: string]: K }\ntype L = { [M in keyof N]?: O<M> } & (P | Q['r']) \nenum S { T = 1, U }\nabstract class V<W> implements X { constructor(private y: Z) { super() } protected abstract a(): b; c!: d }\nfunction e(this: f, g?: h): asserts g is i { return <j>k as l satisfies m }\ndeclare module 'n' { export type o = p extends infer q ? q : never }\nlet r: (s: t) => u = v<w>(x!)\nimport type { y } from 'z'\n",
	"tsx":        "const A = <T,>({ b }: P<T>) => (\n  <C.D e=\"f\" g={h} {...i}>\n    text {j ? <K /> : null}\n    <></>\n  </C.D>\n)\n",
	"rust":       "use a::{b, c::*};\n#[derive(Debug)]\npub struct D<'a, T: E + 'a> where T: F { pub g: &'a mut [T; 2], h: Box<dyn Fn(u8) -> i> }\nenum J { K(u8), L { m: n }, O = 1 }\nimpl<T> P for D<'_, T> {\n    const Q: usize = 1 << 2;\n    pub async fn r(&mut self, s: impl T) -> Result<(), U> {\n        let Some(x) = self.y.z::<A>()? else { return Err(b!(c, \"d\")) };\n        for (i, _) in e.iter().enumerate() { if let F::G { h, .. } = i && j { continue } }\n        match k { 1..=2 | 3 if l => m(), n @ _ => { o += 1 } }\n        'p: loop { break 'p }\n        unsafe { *q = -r as u8 }\n        let s = |t: u8, u| move || t + u;\n        Ok(())\n    }\n}\ntrait V: W { fn x(self); type Y; }\nmacro_rules! z { ($a:expr) => { $a + 1 } }\n",
}
