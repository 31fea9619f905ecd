package syntax

// lexGo cuts Go, with the semicolons that line ends stand for.
func lexGo(l *lexer) {
	for {
		before := l.pos
		l.cComments(false)
		if (l.newline || !l.more()) && l.endsStatement() {
			l.autoSemicolon(before)
		}
		if !l.more() {
			l.eof()
			return
		}
		switch b := l.at(0); {
		case b == '$' && l.metavariable():
		case identStart(b):
			l.word()
		case digit(b) || b == '.' && digit(l.at(1)):
			l.number(false)
		case b == '"':
			l.str(classString, 1, '"', false)
		case b == '\'':
			l.str(classChar, 1, '\'', false)
		case b == '`':
			l.rawString()
		default:
			l.punct()
		}
	}
}

// autoSemicolon stands right after the token that ends the line.
func (l *lexer) autoSemicolon(at int) {
	pos := l.pos
	l.pos = at
	l.layoutToken(classPunct, ";")
	l.pos = pos
}

func (l *lexer) rawString() {
	for n := 1; l.pos+n < len(l.src); n++ {
		if l.src[l.pos+n] == '`' {
			l.add(classString, n+1)
			return
		}
	}
	l.add(classUnknown, len(l.src)-l.pos)
}

// endsStatement: the Go specification, "Semicolons".
func (l *lexer) endsStatement() bool {
	t := l.last()
	if t == nil || t.layout() {
		return false
	}
	switch t.class {
	case classIdent, classNumber, classString, classChar:
		return true
	case classKeyword, classPunct:
		switch string(l.src[t.start:t.end]) {
		case "break", "continue", "fallthrough", "return", "++", "--", ")", "]", "}":
			return true
		}
	}
	return false
}
