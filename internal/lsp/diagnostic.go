package lsp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// Bounds of what one edit's diagnostics add to its result: tools.md 6.8.
const (
	maxRows  = 20
	maxBytes = 2048
	// maxRow bounds one row, so that one of them does not take all the room.
	maxRow = 400
	// maxKept bounds the diagnostics of a file that are looked at.
	maxKept = 1000
	// maxField bounds the texts of a diagnostic that are kept. What is cut is far
	// behind what a row shows.
	maxField = 4 << 10
)

// diagnostic is one finding. Line and column count from 0, as the protocol does.
type diagnostic struct {
	severity           int // 1 error, 2 warning, 3 information, 4 hint
	line, column       int
	source, code, text string
}

// diagnosticsOf reads a list of diagnostics; what is none is left out.
func diagnosticsOf(list jsonscan.Value) []diagnostic {
	var out []diagnostic
	for v := range list.Elements() {
		text, ok := v.Get("message").Text()
		if !ok || len(out) == maxKept {
			continue
		}
		start := v.Get("range").Get("start")
		line, _ := start.Get("line").Uint64()
		column, _ := start.Get("character").Uint64()
		severity, _ := v.Get("severity").Uint64()
		if severity < 1 || severity > 4 {
			severity = 1 // the protocol leaves it to the client
		}
		code := v.Get("code").LenientText()
		if v.Get("code").Kind() == jsonscan.Number {
			code = string(v.Get("code"))
		}
		out = append(out, diagnostic{int(severity), int(min(line, 1<<30)), int(min(column, 1<<30)), kept(v.Get("source").LenientText()), kept(code), kept(text)})
	}
	slices.SortStableFunc(out, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	for i := maxRows; i < len(out); i++ {
		out[i].source, out[i].code, out[i].text = "", "", "" // counted, never shown
	}
	return out
}

// kept is a copy of the beginning of a text, which does not hold on to the rest.
func kept(s string) string { return strings.Clone(redact.Cut(s, maxField)) }

// row is one finding as the model reads it.
func (d diagnostic) row() string {
	var b strings.Builder
	b.WriteString("- " + [...]string{"error", "warning", "info", "hint"}[d.severity-1])
	if d.source != "" {
		b.WriteString(" [" + oneLine(d.source) + "]")
	}
	if d.code != "" {
		b.WriteString(" " + oneLine(d.code))
	}
	fmt.Fprintf(&b, " at %d:%d: %s", d.line+1, d.column+1, oneLine(d.text))
	return redact.Cut(b.String(), maxRow)
}

// oneLine redacts a server's text and makes one line of it.
func oneLine(s string) string { return strings.Join(strings.Fields(redact.Display(s)), " ") }

// report is what servers said of one file.
type report struct {
	server, path string
	found        []diagnostic
}

// render makes the text behind an edit's result; "" when nothing was found.
// What does not fit is counted.
func render(reports []report) string {
	var b strings.Builder
	rows, left := 0, 0
	for _, r := range reports {
		if len(r.found) == 0 {
			continue
		}
		head := fmt.Sprintf("DIAGNOSTICS (%s, %s):", oneLine(r.server), redact.Cut(oneLine(r.path), maxRow))
		if b.Len() > 0 {
			head = "\n\n" + head
		}
		for i, d := range r.found {
			line := "\n" + d.row()
			if i == 0 {
				line = head + line
			}
			if rows == maxRows || b.Len()+len(line) > maxBytes-closingRoom {
				left += len(r.found) - i
				break
			}
			b.WriteString(line)
			rows++
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(%d more)", left)
	}
	return strings.TrimLeft(b.String(), "\n")
}

// closingRoom is kept for the line that counts the rest.
const closingRoom = 24
