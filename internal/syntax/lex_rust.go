package syntax

import (
	"bytes"
	"strings"
)

// lexRust cuts Rust.
func lexRust(l *lexer) {
	if l.has("#!") && !strings.HasPrefix(strings.TrimLeft(string(l.src[l.pos+2:min(len(l.src), l.pos+40)]), " \t\r\n"), "[") {
		l.lineComment()
	}
	for {
		l.cComments(true)
		if !l.more() {
			l.eof()
			return
		}
		switch b := l.at(0); {
		case b == '$' && l.metavariable():
		case l.rustString():
		case identStart(b):
			l.word()
		case digit(b):
			t := l.last()
			l.number(t != nil && t.end == t.start+1 && l.src[t.start] == '.')
		case b == '\'':
			l.rustQuote()
		default:
			l.punct()
		}
	}
}

// rustString adds "...", r#"..."#, b"...", c"..." and b'.', and raw identifiers.
func (l *lexer) rustString() bool {
	n := 0
	for n < 2 && (l.at(n) == 'b' || l.at(n) == 'c' || l.at(n) == 'r') {
		n++
	}
	raw := n > 0 && l.at(n-1) == 'r'
	hashes := 0
	for raw && l.at(n+hashes) == '#' {
		hashes++
	}
	switch {
	case l.at(n+hashes) == '"' && raw:
		l.rustRaw(n+hashes+1, hashes)
	case l.at(n) == '"':
		l.str(classString, n+1, '"', true)
	case n == 1 && l.at(0) == 'b' && l.at(1) == '\'':
		l.str(classChar, 2, '\'', false)
	case n == 1 && hashes == 1 && identStart(l.at(2)):
		l.rawIdent()
	default:
		return false
	}
	return true
}

func (l *lexer) rustRaw(from, hashes int) {
	end := "\"" + strings.Repeat("#", hashes)
	if i := bytes.Index(l.src[l.pos+from:], []byte(end)); i >= 0 {
		l.add(classString, from+i+len(end))
		return
	}
	l.add(classUnknown, len(l.src)-l.pos)
}

func (l *lexer) rawIdent() {
	n := 2
	for identByte(l.at(n)) {
		n++
	}
	l.add(classIdent, n)
}

// rustQuote adds a lifetime or a character.
func (l *lexer) rustQuote() {
	n := 1
	for identByte(l.at(n)) {
		n++
	}
	if n > 1 && l.at(n) != '\'' && !digit(l.at(1)) {
		l.add(classLifetime, n)
		return
	}
	l.str(classChar, 1, '\'', false)
}
