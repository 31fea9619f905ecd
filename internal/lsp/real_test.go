package lsp

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestOtherServers tries further servers, by hand: MAGI_TEST_LSP is a folder
// that has them.
func TestOtherServers(t *testing.T) {
	dir := os.Getenv("MAGI_TEST_LSP")
	if dir == "" {
		t.Skip("MAGI_TEST_LSP is not set")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, bad, want, good string }{
		"pyright-langserver":         {"a.py", "x: int = 'a'\n", "- error [Pyright] ", "x: int = 1\n"},
		"typescript-language-server": {"a.ts", "const x: number = 'a';\nexport { x };\n", "- error [typescript] 2322 at 1:7:", "const x: number = 1;\nexport { x };\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "", func(o *Options) {
				o.Servers = Servers(nil)
				o.Wait, o.Home, o.Path = 30*time.Second, home, dir+string(os.PathListSeparator)+o.Path
			})
			for range 2 {
				for _, text := range []string{c.bad, c.good} {
					began := time.Now()
					got := p.diagnose(p.write(c.file, text))
					t.Logf("%v: %s", time.Since(began).Round(time.Millisecond), got)
					if text == c.bad && !strings.Contains(got, c.want) || text == c.good && got != "" {
						t.Errorf("%q gives %q", text, got)
					}
				}
			}
			began := time.Now()
			p.stop()
			t.Logf("the stop took %v", time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestRealServer tries gopls, by hand: MAGI_TEST_GOPLS is its path
// (docs/compatibility.md).
func TestRealServer(t *testing.T) {
	gopls := os.Getenv("MAGI_TEST_GOPLS")
	if gopls == "" {
		t.Skip("MAGI_TEST_GOPLS is not set")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, "", func(o *Options) {
		o.Servers["go"] = Server{Command: gopls}
		o.Wait, o.Home = 30*time.Second, home
	})
	p.write("go.mod", "module example.test/a\n\ngo 1.21\n")
	a := p.write("a.go", "package a\n\nfunc F() int {\n\treturn missing\n}\n")
	b := p.write("b.go", "package a\n\nvar Unused = 1\n")
	try := func(what, want string, files ...string) {
		t.Helper()
		began := time.Now()
		got := p.diagnose(files...)
		t.Logf("%s took %v: %s", what, time.Since(began).Round(time.Millisecond), got)
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: wanted %q", what, want)
		}
	}
	try("the first edit", "- error [compiler] UndeclaredName at 4:9: undefined: missing", a)
	p.write("a.go", "package a\n\nfunc F() int {\n\treturn Unused\n}\n")
	try("a correction", "", a)
	p.write("b.go", "package a\n")
	try("what breaks another file shows there", "", b)
	p.write("a.go", "package a\n\nfunc F() int {\n\treturn Unused + 1\n}\n")
	try("an edit of that file", "undefined: Unused", a)
	p.write("a.go", "package a\n\nfunc F() {\n")
	try("a syntax error", "[syntax]", a)
	began := time.Now()
	p.stop()
	t.Logf("the stop took %v", time.Since(began).Round(time.Millisecond))
}
