package astgrep

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool/tooltest"
)

// outlined writes an outline as one line a symbol: type, name, signature, flags,
// and members indented.
func outlined(t *testing.T, content string) string {
	t.Helper()
	var b strings.Builder
	var write func(it *item, depth int)
	write = func(it *item, depth int) {
		flags := ""
		if it.IsExported {
			flags += " +"
		}
		if it.IsImport {
			flags += " import"
		}
		fmt.Fprintf(&b, "%s%s %s [%s] %d%s\n", strings.Repeat("  ", depth), it.SymbolType, it.Name, it.Signature, it.Range.Start.Line, flags)
		for _, m := range it.Members {
			write(m, depth+1)
		}
	}
	for line := range strings.Lines(content) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		write(e.Item, 0)
	}
	return b.String()
}

func TestOutline(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{
		"a.go": "package a\n\nimport (\n\t\"fmt\"\n\tx \"net/http\"\n)\n\nconst A, b = 1, 2\n\nvar (\n\tC = fmt.Sprint()\n)\n\ntype T[K any] struct {\n\tD, e int\n\t*F\n}\n\ntype I interface {\n\tG(int) error\n\th()\n}\n\ntype M = map[string]int\n\nfunc (t *T[K]) N(x int) (y int, err error) {\n\treturn\n}\n\nfunc o() {}\n",
		"b.py": "import os.path as p\nfrom . import q\n\nMAX = 3\n_x: int = 4\n\n@dec\nclass C(Base):\n    y = 1\n    async def m(self, a=1) -> int:\n        def inner(): pass\n        return 1\n    def _n(self): pass\n    class D: pass\n\ndef f(): pass\nf.a = 1\n",
		"c.ts": "import { a } from 'b'\nexport const c = (d: number) => d, e = 1\nexport default class F<T> extends G {\n  #h = 1\n  private i(): void {}\n  static async j(k: string) { return 1 }\n}\nexport interface L { m?: string; n(o: T): void }\nenum P { Q = 1, R }\ntype S = { t: number }\nexport { c as u }\nnamespace V { export function w() {} }\ndeclare function x(): void\n",
		"d.rs": "use std::{fmt, io};\npub struct A<T> { pub b: u8, c: T }\nenum E { F, G(u8) }\npub trait H { fn i(&self); }\nimpl<T> H for A<T> where T: Copy { fn i(&self) {} }\nimpl A<u8> { pub fn j() -> Self { todo!() } const K: u8 = 1; }\nmod m { pub fn n() {} }\nmacro_rules! o { () => {} }\nfn p() {}\n",
	})
	for _, tc := range []struct{ name, args, want string }{
		{"go expanded", `{"path":"a.go","view":"expanded","items":"all"}`, `import fmt ["fmt"] 4 import
import net/http [x "net/http"] 5 import
constant A [A, b = 1, 2] 8 +
variable C [C = fmt.Sprint()] 11 +
struct T [T[K any] struct] 14 +
  field D [D, e int] 15 +
  field F [*F] 16 +
interface I [I] 19 +
  method G [G(int) error] 20 +
  method h [h()] 21
type M [M = map[string]int] 24 +
method N [func (t *T[K]) N(x int) (y int, err error)] 26 +
function o [func o()] 30
`},
		{"go structure and names", `{"path":"a.go","view":"names"}`, "constant A [] 8 +\nvariable C [] 11 +\nstruct T [] 14 +\ninterface I [] 19 +\ntype M [] 24 +\nmethod N [] 26 +\nfunction o [] 30\n"},
		{"go exports", `{"path":"a.go","items":"exports","view":"names","symbol_type":"struct"}`, "struct T [] 14 +\n"},
		{"go public members", `{"path":"a.go","view":"digest","symbol_type":"interface","pub_members":true}`, "interface I [] 19 +\n  method G [] 20 +\n"},
		{"go by name", `{"path":"a.go","view":"signatures","name":"^[no]$"}`, "function o [func o()] 30\n"},
		{"python", `{"path":"b.py","view":"expanded","items":"all"}`, `import os.path as p [import os.path as p] 1 import
import . import q [from . import q] 2 import
constant MAX [MAX = 3] 4 +
variable _x [_x: int = 4] 5
class C [class C(Base):] 8 +
  field y [y = 1] 9 +
  method m [async def m(self, a=1) -> int:] 10 +
  method _n [def _n(self):] 13
  class D [class D:] 14 +
function f [def f():] 16 +
`},
		{"typescript", `{"path":"c.ts","view":"expanded","items":"all"}`, `import b [import { a } from 'b'] 1 import
function c [c = (d: number) =>] 2 +
variable e [e = 1] 2 +
class F [class F<T> extends G] 3 +
  field #h [#h = 1] 4
  method i [private i(): void] 5
  method j [static async j(k: string)] 6 +
interface L [interface L] 8 +
  field m [m?: string] 8 +
  method n [n(o: T): void] 8 +
enum P [enum P] 9
  constant Q [Q = 1] 9 +
  constant R [R] 9 +
type S [type S] 10
  field t [t: number] 10 +
export { c as u } [export { c as u }] 11 +
module V [namespace V] 12
  function w [function w()] 12 +
function x [function x(): void] 13
`},
		{"rust", `{"path":"d.rs","view":"expanded","items":"all"}`, `import std::{fmt, io} [use std::{fmt, io}] 1 import
struct A [pub struct A<T>] 2 +
  field b [pub b: u8] 2 +
  field c [c: T] 2
enum E [enum E] 3
  constant F [F] 3 +
  constant G [G(u8)] 3 +
trait H [pub trait H] 4 +
  method i [fn i(&self)] 4 +
impl H for A<T> [impl<T> H for A<T> where T: Copy] 5
  method i [fn i(&self)] 5 +
impl A<u8> [impl A<u8>] 6
  method j [pub fn j() -> Self] 6 +
  constant K [const K: u8 = 1] 6
module m [mod m] 7
  function n [pub fn n()] 7 +
macro o [macro_rules! o { () => {} }] 8
function p [fn p()] 9
`},
		{"imports of all files", `{"items":"imports","view":"names"}`, "import fmt [] 4 import\nimport net/http [] 5 import\nimport os.path as p [] 1 import\nimport . import q [] 2 import\nimport b [] 1 import\nimport std::{fmt, io} [] 1 import\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, `{"operation":"outline",`+tc.args[1:])
			if d := cmp.Diff(tc.want, outlined(t, res.Content)); d != "" || !res.Success {
				t.Errorf("%v %s (-want +got):\n%s", res.Success, res.Content[:min(200, len(res.Content))], d)
			}
		})
	}
}

// TestOutlineLine holds one line whole: it is a format.
func TestOutlineLine(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a.py": "class A:\n    x = 1\n"})
	res := run(t, env, `{"operation":"outline","view":"expanded"}`)
	want := `{"path":"a.py","language":"python","item":{"name":"A","symbolType":"class","signature":"class A:","astKind":"class_definition","range":{"start":{"line":1,"column":1},"end":{"line":2,"column":10}},"isImport":false,"isExported":true,"members":[{"name":"x","symbolType":"field","signature":"x = 1","astKind":"assignment","range":{"start":{"line":2,"column":5},"end":{"line":2,"column":10}},"isImport":false,"isExported":true,"members":[]}]}}`
	if d := cmp.Diff(want, res.Content); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	facts := map[string]any{"operation": "outline", "items": "structure", "view": "expanded", "symbols_returned": 1, "workset_truncated": false, "line_base": 1, "column_base": 1}
	for k, v := range facts {
		if res.Metadata[k] != v {
			t.Errorf("%s: %v, want %v", k, res.Metadata[k], v)
		}
	}
}
