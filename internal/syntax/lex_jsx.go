package syntax

import "bytes"

// jsxStart reports whether a < begins an element: an operand is due, and what
// follows looks like a tag rather than like type parameters.
func (l *lexer) jsxStart() bool {
	if !l.jsx || l.script.afterOperand {
		return false
	}
	n := 1
	for l.at(n) == ' ' || l.at(n) == '\n' || l.at(n) == '\t' || l.at(n) == '\r' {
		n++
	}
	if l.at(n) == '>' {
		return true
	}
	if !identStart(l.at(n)) && l.at(n) != '$' {
		return false
	}
	for identByte(l.at(n)) || l.at(n) == '$' {
		n++
	}
	rest := l.src[min(len(l.src), l.pos+n):]
	return !bytes.HasPrefix(rest, []byte(",")) && !bytes.HasPrefix(rest, []byte(" extends ")) && !bytes.HasPrefix(rest, []byte(" = "))
}

// jsxTagToken adds a token within a tag. It leaves braces to the caller.
func (l *lexer) jsxTagToken() bool {
	s := &l.script
	switch b := l.at(0); {
	case identStart(b):
		n := 1
		for identByte(l.at(n)) || l.at(n) == '-' {
			n++
		}
		l.add(classIdent, n)
	case b == '"' || b == '\'':
		l.str(classString, 1, b, true)
	case b == '/':
		t := l.last()
		s.top().closing = t != nil && t.class == classJSXOpen
		l.add(classPunct, 1)
	case b == '>':
		l.jsxTagEnd()
	case b == '<' && l.last().class == classIdent: // type arguments
		s.push(scriptOpen{kind: 'T', operand: true})
		l.add(classPunct, 1)
	case b == '{':
		s.afterOperand = false
		s.push(scriptOpen{kind: '{', operand: true})
		l.add(classPunct, 1)
	default:
		return false
	}
	return true
}

// jsxTagEnd: after a start tag come children, after an end tag or an empty
// element what was around.
func (l *lexer) jsxTagEnd() {
	s := &l.script
	empty := string(l.src[l.last().start:l.last().end]) == "/"
	closing := s.top().closing
	l.add(classPunct, 1)
	s.pop()
	switch {
	case closing:
		if s.inChildren() { // those of the element that ends
			s.pop()
		}
		s.afterOperand = true
	case empty:
		s.afterOperand = true
	default:
		s.push(scriptOpen{kind: '>'})
	}
}

// jsxChild adds text up to the next tag or brace, or these.
func (l *lexer) jsxChild() {
	n := 0
	for l.pos+n < len(l.src) && l.src[l.pos+n] != '<' && l.src[l.pos+n] != '{' {
		n++
	}
	if text := l.src[l.pos : l.pos+n]; len(bytes.TrimSpace(text)) > 0 {
		lead := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
		l.newline = l.newline || bytes.IndexByte(text[:lead], '\n') >= 0
		l.pos += lead
		rest := n - lead
		body := len(bytes.TrimRight(l.src[l.pos:l.pos+rest], " \t\r\n"))
		if m := MetaLen(l.src[l.pos : l.pos+body]); m != body || !l.metavariable() {
			l.add(classJSXText, body)
		}
		l.newline = bytes.IndexByte(l.src[l.pos:l.pos+rest-body], '\n') >= 0
		l.pos += rest - body
		return
	}
	l.newline = l.newline || bytes.IndexByte(l.src[l.pos:l.pos+n], '\n') >= 0
	l.pos += n
	switch l.at(0) {
	case '<':
		l.add(classJSXOpen, 1)
		l.script.push(scriptOpen{kind: '<'})
	case '{':
		l.script.push(scriptOpen{kind: '{', operand: true})
		l.add(classPunct, 1)
		l.script.afterOperand = false
	}
}
