package syntax

import "bytes"

// token is one token. Comments are none.
type token struct {
	start, end int32
	id         uint16 // of its text, if the grammar names it
	class      class
	newline    bool // stands first on its line
	meta       bool
}

// layout tokens stand for line ends and indentation: they have no text.
func (t *token) layout() bool { return t.end == t.start && t.class != classEOF }

// lexer cuts a text into tokens. The lex functions of the languages drive it.
type lexer struct {
	g       *grammar
	src     []byte
	pos     int
	newline bool // a line ended since the last token
	tokens  []token
	pattern bool // metavariables are identifiers
	jsx     bool
	script  scriptState
}

func (l *lexer) more() bool { return l.pos < len(l.src) }

// at is the byte n places on, 0 behind the end.
func (l *lexer) at(n int) byte {
	if l.pos+n >= len(l.src) {
		return 0
	}
	return l.src[l.pos+n]
}

func (l *lexer) has(prefix string) bool {
	return len(l.src)-l.pos >= len(prefix) && string(l.src[l.pos:l.pos+len(prefix)]) == prefix
}

// add adds the token that ends n bytes on.
func (l *lexer) add(c class, n int) {
	n = min(n, len(l.src)-l.pos)
	t := token{start: int32(l.pos), end: int32(l.pos + n), class: c, newline: l.newline}
	if c == classPunct || c == classIdent || c == classKeyword {
		t.id = l.g.ids[string(l.src[l.pos:l.pos+n])]
	}
	l.tokens = append(l.tokens, t)
	l.pos += n
	l.newline = false
}

// layoutToken adds a token without a text. name is its id's, or "".
func (l *lexer) layoutToken(c class, name string) {
	l.tokens = append(l.tokens, token{start: int32(l.pos), end: int32(l.pos), class: c, newline: l.newline, id: l.g.ids[name]})
}

func (l *lexer) eof() {
	l.pos = len(l.src)
	l.tokens = append(l.tokens, token{start: int32(l.pos), end: int32(l.pos), class: classEOF, newline: true})
}

// last is the token before, or nil.
func (l *lexer) last() *token {
	if len(l.tokens) == 0 {
		return nil
	}
	return &l.tokens[len(l.tokens)-1]
}

// blanks skips blanks and line ends.
func (l *lexer) blanks() {
	for l.more() {
		switch l.src[l.pos] {
		case '\n':
			l.newline = true
		case ' ', '\t', '\r', '\f', '\v':
		default:
			return
		}
		l.pos++
	}
}

// lineComment skips to the end of the line.
func (l *lexer) lineComment() {
	if i := bytes.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
		l.pos += i
		return
	}
	l.pos = len(l.src)
}

// blockComment skips a /* comment, with comments inside if nested.
func (l *lexer) blockComment(nested bool) {
	depth := 0
	for l.more() {
		switch {
		case l.has("/*") && (nested || depth == 0):
			depth++
			l.pos += 2
		case l.has("*/"):
			l.pos += 2
			if depth--; depth == 0 {
				return
			}
		default:
			l.newline = l.newline || l.src[l.pos] == '\n'
			l.pos++
		}
	}
}

// cComments skips blanks and comments of the C family.
func (l *lexer) cComments(nested bool) {
	for {
		l.blanks()
		switch {
		case l.has("//"):
			l.lineComment()
		case l.has("/*"):
			l.blockComment(nested)
		default:
			return
		}
	}
}

func identStart(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

func identByte(b byte) bool { return identStart(b) || digit(b) }

func digit(b byte) bool { return b >= '0' && b <= '9' }

// metavariable adds $NAME, $$$NAME, $$$ or $_ of a pattern.
func (l *lexer) metavariable() bool {
	n := MetaLen(l.src[l.pos:])
	if !l.pattern || n == 0 {
		return false
	}
	l.add(classIdent, n)
	l.last().meta, l.last().id = true, 0
	return true
}

// MetaLen returns the length of the metavariable at the start of a text, or 0.
// Its name is of capital letters, digits and underscores; only one of three
// dollar signs may be without a name.
func MetaLen(text []byte) int {
	n := 0
	for n < len(text) && n < 3 && text[n] == '$' {
		n++
	}
	if n != 1 && n != 3 {
		return 0
	}
	end := n
	for end < len(text) && (text[end] == '_' || text[end] >= 'A' && text[end] <= 'Z' || end > n && digit(text[end])) {
		end++
	}
	if end < len(text) && (identByte(text[end]) || text[end] == '$' && end == n) || n == 1 && end == n {
		return 0
	}
	return end
}

// word adds an identifier or a reserved word.
func (l *lexer) word() {
	n := 1
	for identByte(l.at(n)) {
		n++
	}
	c := classIdent
	if l.g.reserved[string(l.src[l.pos:l.pos+n])] {
		c = classKeyword
	}
	l.add(c, n)
}

// number adds a number: digits, letters, separators, one fraction, an exponent
// with its sign. whole leaves out the fraction.
func (l *lexer) number(whole bool) {
	n := 0
	exponent := "eE"
	if l.at(0) == '0' && (l.at(1)|0x20) == 'x' {
		exponent = "pP"
	}
	for {
		b := l.at(n)
		switch {
		case b == '.' && !whole && l.at(n+1) != '.' && !(identStart(l.at(n+1)) && n > 0 && !exponentAt(l, n+1)):
			whole = true
		case identByte(b):
		case (b == '+' || b == '-') && n > 0 && (l.at(n-1) == exponent[0] || l.at(n-1) == exponent[1]) && digit(l.at(n+1)):
		default:
			l.add(classNumber, max(n, 1))
			return
		}
		n++
	}
}

// exponentAt reports whether an exponent or an imaginary sign follows a point,
// rather than the name of a method.
func exponentAt(l *lexer, n int) bool {
	b := l.at(n) | 0x20
	next := l.at(n + 1)
	return b == 'e' && (digit(next) || next == '+' || next == '-') || (b == 'j' || b == 'i') && !identByte(next)
}

// quoted returns the length of a literal that ends in quote, with backslashes;
// closed is false where a line or the text ends first.
func (l *lexer) quoted(from int, quote byte, lines bool) (n int, closed bool) {
	for n = from; l.pos+n < len(l.src); n++ {
		switch b := l.src[l.pos+n]; {
		case b == '\\':
			n++
		case b == quote:
			return n + 1, true
		case b == '\n' && !lines:
			return n, false
		}
	}
	return n, false
}

// str adds a quoted literal.
func (l *lexer) str(c class, from int, quote byte, lines bool) {
	n, closed := l.quoted(from, quote, lines)
	if !closed {
		c = classUnknown
	}
	l.add(c, n)
}

// punct adds the longest fixed text that is not a word, or one unknown byte.
func (l *lexer) punct() {
	for _, text := range l.g.puncts[l.src[l.pos]] {
		if len(text) > 1 && l.splits() {
			continue
		}
		if l.has(text) {
			l.add(classPunct, len(text))
			return
		}
	}
	l.add(classUnknown, 1)
}

func (l *lexer) splits() bool {
	return bytes.IndexByte([]byte(l.g.split), l.src[l.pos]) >= 0
}
