package syntax

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// hostile is 128 KiB of one text over and over.
func hostile(unit string) []byte { return []byte(strings.Repeat(unit, 128<<10/len(unit))) }

// TestLexersAreLinear: no text makes a lexer look at the rest of it, or copy it,
// at each token. Nothing interrupts a lexer.
func TestLexersAreLinear(t *testing.T) {
	src := hostile("/[")
	for _, l := range Languages() {
		lex := lexer{g: l.grammar(), src: src, jsx: l.jsx}
		l.lex(&lex)
		if most := (maxSought + 1) * len(src); lex.script.sought > most { // a sign that is looked at alone counts too
			t.Errorf("%s: %d bytes were looked at for the ends of regular expressions", l.Name, lex.script.sought)
		}
	}
	src = hostile(`r"" `)
	for _, l := range Languages() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lex := lexer{g: l.grammar(), src: src, jsx: l.jsx}
		l.lex(&lex)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d bytes were copied for %d of text", l.Name, n, len(src))
		}
	}
}

// TestMendingIsBounded: leaving out line after line counts as work.
func TestMendingIsBounded(t *testing.T) {
	for _, l := range Languages() {
		for _, unit := range []string{"a\n{", "a\n (", "a\n["} {
			var p Parser
			if _, err := p.Parse(context.Background(), l, hostile(unit)); err != nil && !errors.Is(err, ErrBounds) {
				t.Errorf("%s %q: %v", l.Name, unit, err)
			}
			if most := p.limit + len(p.tokens) + 2*checkEvery; p.steps > most {
				t.Errorf("%s %q: %d steps, limit %d", l.Name, unit, p.steps, p.limit)
			}
		}
	}
}

// TestLongRegex: the bound on unfinished ones takes no finished one away.
func TestLongRegex(t *testing.T) {
	for _, l := range Languages() {
		if l.Name != "javascript" {
			continue
		}
		src := []byte("x = a / b;\nlet r = /[" + strings.Repeat("a-z", 20_000) + "]/u;\n")
		lex := lexer{g: l.grammar(), src: src, jsx: l.jsx}
		l.lex(&lex)
		found := 0
		for _, tok := range lex.tokens {
			if tok.class == classRegex {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d regular expressions", found)
		}
	}
}
