package syntax

import "strings"

// lexPython cuts Python, with tokens for line ends and indentation.
func lexPython(l *lexer) {
	p := pythonLayout{lexer: l, indents: []int{0}}
	for {
		if !p.gap() {
			break
		}
		switch b := l.at(0); {
		case b == '$' && l.metavariable():
		case p.stringStart() > 0:
			p.str(p.stringStart())
		case len(p.open) > 0 && p.interpolationEnds(b):
			p.resume()
		case identStart(b):
			l.word()
		case digit(b) || b == '.' && digit(l.at(1)):
			l.number(false)
		default:
			p.bracket(b)
			l.punct()
		}
	}
	p.finish()
}

// pythonLayout follows brackets and indentation.
type pythonLayout struct {
	*lexer
	depth   int            // of brackets: inside, line ends mean nothing
	indents []int          // columns of the blocks around
	open    []pythonString // strings around the present expression
}

// gap skips blanks, comments and line ends up to the next token and adds the
// layout tokens between. It reports whether there is a token.
func (p *pythonLayout) gap() bool {
	for p.more() {
		switch b := p.at(0); {
		case b == '\n':
			p.newline = true
			p.pos++
		case b == ' ' || b == '\t' || b == '\r' || b == '\f':
			p.pos++
		case b == '#':
			p.lineComment()
		case b == '\\' && (p.at(1) == '\n' || p.at(1) == '\r' && p.at(2) == '\n'):
			p.pos++
			for p.at(0) != '\n' {
				p.pos++
			}
			p.pos++
		default:
			p.line()
			return true
		}
	}
	return false
}

// line adds the layout before a token that stands first on its line.
func (p *pythonLayout) line() {
	if p.depth > 0 || !p.newline && len(p.tokens) > 0 {
		return
	}
	if len(p.tokens) > 0 {
		p.layoutToken(classNewline, "")
	}
	column := p.column()
	for len(p.indents) > 1 && column < p.indents[len(p.indents)-1] {
		p.indents = p.indents[:len(p.indents)-1]
		p.layoutToken(classDedent, "")
	}
	if column > p.indents[len(p.indents)-1] {
		if len(p.tokens) == 0 && p.pattern { // a fragment may be indented as a whole
			p.indents[0] = column
			return
		}
		p.indents = append(p.indents, column)
		p.layoutToken(classIndent, "")
	}
}

// column of the present position; a tab goes on to the next multiple of eight.
func (p *pythonLayout) column() int {
	start := p.pos
	for start > 0 && p.src[start-1] != '\n' {
		start--
	}
	n := 0
	for _, b := range p.src[start:p.pos] {
		switch b {
		case '\t':
			n += 8 - n%8
		case '\f':
			n = 0
		default:
			n++
		}
	}
	return n
}

func (p *pythonLayout) bracket(b byte) {
	switch b {
	case '(', '[', '{':
		p.depth++
	case ')', ']', '}':
		p.depth = max(0, p.depth-1)
	}
}

func (p *pythonLayout) finish() {
	p.pos = len(p.src)
	if len(p.tokens) > 0 {
		p.layoutToken(classNewline, "")
	}
	for range p.indents[1:] {
		p.layoutToken(classDedent, "")
	}
	p.eof()
}

// stringStart returns the length of a prefix and the first quote, or 0.
func (p *pythonLayout) stringStart() int {
	for n := range 4 {
		switch b := p.at(n); b {
		case '"', '\'':
			return n + 1
		case 'r', 'R', 'b', 'B', 'u', 'U', 'f', 'F', 't', 'T':
		default:
			return 0
		}
	}
	return 0
}

func (p *pythonLayout) str(from int) {
	quote := p.at(from - 1)
	if strings.ContainsAny(string(p.src[p.pos:p.pos+from-1]), "fFtT") {
		p.formatted(from)
		return
	}
	if p.at(from) != quote || p.at(from+1) != quote {
		p.lexer.str(classString, from, quote, false)
		return
	}
	for n := from + 2; p.pos+n < len(p.src); n++ {
		switch {
		case p.at(n) == '\\':
			n++
		case p.at(n) == quote && p.at(n+1) == quote && p.at(n+2) == quote:
			p.add(classString, n+3)
			return
		}
	}
	p.add(classUnknown, len(p.src)-p.pos)
}
