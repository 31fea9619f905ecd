package syntax

import "strings"

// pythonString is a string with expressions in braces, while one of these is read.
type pythonString struct {
	quote string // that ends it
	raw   bool
	depth int // of brackets around the expression
	spec  int // format specifications that the text is inside of
}

// formatted adds the first piece of an f-string or t-string: whole, or up to an
// expression.
func (p *pythonLayout) formatted(from int) {
	quote := string(p.src[p.pos+from-1 : p.pos+from])
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(string(p.src[p.pos+from-1:min(len(p.src), p.pos+from+2)]), triple) {
		quote = triple
	}
	s := pythonString{quote: quote, raw: strings.ContainsAny(string(p.src[p.pos:p.pos+from-1]), "rR")}
	p.piece(s, from-1+len(quote), classTemplateHead, classString)
}

// interpolationEnds reports whether the expression of the innermost string ends
// at b: with its brace, a conversion, a format, or the sign that shows it.
func (p *pythonLayout) interpolationEnds(b byte) bool {
	if p.depth != p.open[len(p.open)-1].depth {
		return false
	}
	switch b {
	case '}', ':': // := too: an assignment needs brackets of its own
		return true
	case '!':
		return p.at(1) != '='
	case '=':
		n := 1
		for p.at(n) == ' ' {
			n++
		}
		return p.at(n) == '}' || p.at(n) == ':' || p.at(n) == '!' && p.at(n+1) != '='
	}
	return false
}

// resume goes on with the string's text behind an expression.
func (p *pythonLayout) resume() {
	s := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.depth--
	n := 0
	for p.at(n) != '}' && p.at(n) != ':' && p.pos+n < len(p.src) { // a conversion
		n++
	}
	if p.at(n) == ':' {
		s.spec++
	}
	p.piece(s, n+1, classTemplateMiddle, classTemplateTail)
}

// piece adds the text from n on up to the next expression, or to the end.
func (p *pythonLayout) piece(s pythonString, n int, open, whole class) {
	for ; p.pos+n < len(p.src); n++ {
		switch b := p.at(n); {
		case b == '\\':
			n += p.escape(n, s.raw)
		case strings.HasPrefix(string(p.src[p.pos+n:min(len(p.src), p.pos+n+3)]), s.quote):
			p.add(whole, n+len(s.quote))
			return
		case b == '\n' && len(s.quote) == 1:
			p.add(classUnknown, n)
			return
		case b == '{' && p.at(n+1) == '{' && s.spec == 0:
			n++
		case b == '}' && s.spec > 0:
			s.spec--
		case b == '{':
			p.add(open, n+1)
			p.depth++
			s.depth = p.depth
			p.open = append(p.open, s)
			return
		}
	}
	p.add(classUnknown, len(p.src)-p.pos)
}

// escape is the number of bytes behind a backslash that belong to it. A brace
// begins an expression all the same, but for that of \N{NAME}.
func (p *pythonLayout) escape(n int, raw bool) int {
	switch b := p.at(n + 1); {
	case b == 'N' && p.at(n+2) == '{' && !raw:
		end := n + 3
		for p.at(end) != '}' && p.at(end) != '\n' && p.pos+end < len(p.src) {
			end++
		}
		return end - n
	case b == '{' || b == '}':
		return 0
	}
	return 1
}
