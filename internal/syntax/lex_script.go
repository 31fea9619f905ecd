package syntax

// lexScript cuts JavaScript and TypeScript, with JSX where the language has it.
func lexScript(l *lexer) {
	if l.has("#!") {
		l.lineComment()
	}
	for {
		if l.script.inChildren() {
			l.jsxChild()
			if !l.more() {
				l.eof()
				return
			}
			continue
		}
		l.cComments(false)
		if !l.more() {
			l.eof()
			return
		}
		l.scriptToken()
	}
}

// scriptState is what the meaning of / < } and ` depends on.
type scriptState struct {
	open []scriptOpen
	// afterOperand is true where a / divides and a < compares.
	afterOperand bool
	sought       int // bytes in which regular expressions found no end
}

// scriptOpen is an open bracket or element.
type scriptOpen struct {
	kind byte // ( [ { as written, ` a ${ in a template, < a tag, T type
	// arguments in a tag, > the children of an element
	// operand: after its end comes an operator. For ( : not those of if, for, while.
	operand bool
	closing bool // of <: an end tag
}

func (s *scriptState) top() *scriptOpen {
	if len(s.open) == 0 {
		return &scriptOpen{}
	}
	return &s.open[len(s.open)-1]
}

func (s *scriptState) inChildren() bool { return s.top().kind == '>' }

func (s *scriptState) push(o scriptOpen) { s.open = append(s.open, o) }

func (s *scriptState) pop() scriptOpen {
	o := *s.top()
	if len(s.open) > 0 {
		s.open = s.open[:len(s.open)-1]
	}
	return o
}

func (l *lexer) scriptToken() {
	s := &l.script
	switch b := l.at(0); {
	case b == '$' && l.metavariable():
		s.afterOperand = true
	case s.top().kind == '<' && l.jsxTagToken():
	case identStart(b) || b == '$' || b == '\\':
		l.scriptWord()
	case digit(b) || b == '.' && digit(l.at(1)):
		l.number(false)
		s.afterOperand = true
	case b == '"' || b == '\'':
		l.str(classString, 1, b, false)
		s.afterOperand = true
	case b == '`':
		l.template(classTemplateHead, classTemplate)
	case b == '}' && s.top().kind == '`':
		s.pop()
		l.template(classTemplateMiddle, classTemplateTail)
	case b == '#' && identStart(l.at(1)):
		l.private()
	case b == '/' && !s.afterOperand:
		l.regex()
	case b == '<' && l.jsxStart():
		l.add(classJSXOpen, 1)
		s.push(scriptOpen{kind: '<'})
	default:
		l.scriptPunct(b)
	}
}

// scriptWord adds a word; after some reserved ones an operand begins.
func (l *lexer) scriptWord() {
	member := false
	if t := l.last(); t != nil {
		text := string(l.src[t.start:t.end])
		member = text == "." || text == "?."
	}
	n := 1
	for identByte(l.at(n)) || l.at(n) == '$' {
		n++
	}
	c := classIdent
	if l.g.reserved[string(l.src[l.pos:l.pos+n])] {
		c = classKeyword
	}
	word := string(l.src[l.pos : l.pos+n])
	l.add(c, n)
	l.script.afterOperand = member || !beforeOperand(word)
}

// beforeOperand: a regular expression or an element may follow the word.
func beforeOperand(word string) bool {
	switch word {
	case "return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case", "do", "else", "await", "yield", "extends", "default":
		return true
	}
	return false
}

func (l *lexer) private() {
	n := 2
	for identByte(l.at(n)) || l.at(n) == '$' {
		n++
	}
	l.add(classPrivate, n)
	l.script.afterOperand = true
}

// template adds a piece of a template string: up to ${, or to its end.
func (l *lexer) template(open, whole class) {
	for n := 1; l.pos+n < len(l.src); n++ {
		switch {
		case l.at(n) == '\\':
			n++
		case l.at(n) == '`':
			l.add(whole, n+1)
			l.script.afterOperand = true
			return
		case l.at(n) == '$' && l.at(n+1) == '{':
			l.add(open, n+2)
			l.script.push(scriptOpen{kind: '`'})
			l.script.afterOperand = false
			return
		}
	}
	l.add(classUnknown, len(l.src)-l.pos)
}

// maxSought is some 50 ms for the longest text.
const maxSought = 64

// regex adds a regular expression, or a sign if none ends on the line. Each of
// many that do not end would look at the rest of a long line: what they look at
// together is bounded by maxSought times the text.
func (l *lexer) regex() {
	inClass, n := false, 1
	for limit := maxSought*len(l.src) - l.script.sought; l.at(n) != '\n' && l.pos+n < len(l.src) && n < limit; n++ {
		switch b := l.at(n); {
		case b == '\\':
			n++
		case b == '[':
			inClass = true
		case b == ']':
			inClass = false
		case b == '/' && !inClass:
			n++
			for identByte(l.at(n)) {
				n++
			}
			l.add(classRegex, n)
			l.script.afterOperand = true
			return
		}
	}
	l.script.sought += n
	l.scriptPunct('/')
}

// scriptPunct adds a bracket or an operator and keeps the books.
func (l *lexer) scriptPunct(b byte) {
	s := &l.script
	switch {
	case s.top().kind != 'T':
	case b == '<':
		s.push(scriptOpen{kind: 'T', operand: true})
	case b == '>':
		s.pop()
	}
	switch b {
	case '(':
		s.push(scriptOpen{kind: b, operand: !l.afterCondition()})
	case '[':
		s.push(scriptOpen{kind: b, operand: true})
	case '{':
		s.push(scriptOpen{kind: b, operand: l.braceIsOperand()})
	}
	l.punct()
	t := l.last()
	switch text := string(l.src[t.start:t.end]); text {
	case ")", "]", "}":
		o := s.pop()
		s.afterOperand = o.operand
	case "++", "--": // after an operand they belong to it
	default:
		s.afterOperand = false
	}
}

// afterCondition: behind the brackets of these a statement begins.
func (l *lexer) afterCondition() bool {
	t := l.last()
	if t == nil {
		return false
	}
	switch string(l.src[t.start:t.end]) {
	case "if", "for", "while", "with":
		return true
	case "await":
		return len(l.tokens) > 1 && string(l.src[l.tokens[len(l.tokens)-2].start:l.tokens[len(l.tokens)-2].end]) == "for"
	}
	return false
}

// braceIsOperand: a brace is an object, and not a block, where an operand is due
// and no statement can begin.
func (l *lexer) braceIsOperand() bool {
	t := l.last()
	if t == nil || l.script.afterOperand {
		return false
	}
	switch text := string(l.src[t.start:t.end]); text {
	case ";", "{", "}", ")", "=>", "else", "do", "":
		return false
	case ":": // a label or a case; or a property
		return l.script.top().kind == '{' && l.script.top().operand || l.script.top().kind == '('
	}
	return true
}
