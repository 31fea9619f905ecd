package lsp

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzServerOutput: whatever a server says, reading it ends, and what comes of
// it keeps its bounds.
func FuzzServerOutput(f *testing.F) {
	say := func(body string) string { return string(frame([]byte(body))) }
	f.Add([]byte(say(`{"id":1,"result":{"capabilities":{"textDocumentSync":{"save":true}}}}`) +
		say(`{"method":"textDocument/publishDiagnostics","params":{"uri":"file:///w/a.go","version":1,"diagnostics":[{"range":{"start":{"line":1,"character":2}},"severity":2,"code":7,"source":"s","message":"m"}]}}`)))
	f.Add([]byte(say(`{"id":"q","method":"workspace/configuration","params":{"items":[{},{}]}}`) + say(`[]`)))
	f.Add([]byte("Content-Length: 5\r\nContent-Length: 2\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, output []byte) {
		m := New(Options{})
		s := newServer(m, key{"x", "/w"}, Server{Command: "x"})
		s.docs["/w/a.go"] = &document{version: 1}
		r := bufio.NewReaderSize(bytes.NewReader(output), maxHeader)
		for {
			body, err := readMessage(r)
			if err == nil {
				err = s.receive(body)
			}
			if err != nil {
				break
			}
		}
		text := render([]report{{server: "x", path: "/w/a.go", found: s.docs["/w/a.go"].found}})
		if len(text) > maxBytes || strings.Count(text, "\n- ") > maxRows || !utf8.ValidString(text) || strings.Contains(text, "\x1b") {
			t.Errorf("%q", text)
		}
	})
}
