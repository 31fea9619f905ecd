package lsp

import (
	"errors"
	"strings"
	"testing"
)

// TestAnswersAreSmall: what a server asks for cannot make the answers that wait
// for it large.
func TestAnswersAreSmall(t *testing.T) {
	s := newServer(New(Options{}), key{"x", "/w"}, Server{Command: "x"})
	items := `{"id":"a","method":"workspace/configuration","params":{"items":[` + strings.Repeat("1,", 1_000_000) + `1]}}`
	if err := s.receive([]byte(items)); err != nil {
		t.Fatal(err)
	}
	if n := len(<-s.out); n > 8<<10 {
		t.Errorf("%d bytes answer a list of a million", n)
	}
	for id, want := range map[string]error{`"` + strings.Repeat("i", 200) + `"`: nil, `"` + strings.Repeat("i", 1<<20) + `"`: errFraming, strings.Repeat("9", 1<<20): errFraming} {
		if err := s.receive([]byte(`{"id":` + id + `,"method":"x"}`)); !errors.Is(err, want) {
			t.Errorf("an id of %d bytes: %v", len(id), err)
		}
	}
	if len(s.out) != 1 {
		t.Errorf("%d answers", len(s.out))
	}
}

// TestKeptDiagnosticsAreSmall: of 8 MiB that a server says of a file, what rows
// can show is kept.
func TestKeptDiagnosticsAreSmall(t *testing.T) {
	s := newServer(New(Options{}), key{"x", "/w"}, Server{Command: "x"})
	s.docs["/w/a.go"] = &document{version: 1}
	one := `{"range":{"start":{"line":1,"character":2}},"message":"` + strings.Repeat("m", 70_000) + `"}`
	body := `{"method":"textDocument/publishDiagnostics","params":{"uri":"file:///w/a.go","diagnostics":[` + strings.Repeat(one+",", 99) + one + `]}}`
	if err := s.receive([]byte(body)); err != nil {
		t.Fatal(err)
	}
	found, size := s.docs["/w/a.go"].found, 0
	for _, d := range found {
		size += len(d.text) + len(d.code) + len(d.source)
	}
	if len(found) != 100 || size > maxRows*maxField {
		t.Errorf("%d diagnostics, %d bytes", len(found), size)
	}
	if text := render([]report{{server: "x", path: "/w/a.go", found: found}}); !strings.HasSuffix(text, " more)") {
		t.Errorf("%q", text)
	}
}
