package syntax

// starts reports whether e can match at a token, as far as that token tells.
func (p *Parser) starts(e *expr, pos int) bool {
	return e.nullable || e.first.has(&p.tokens[pos])
}

// match matches e at a token, leaves its nodes on the stack and returns the
// token after it. On failure it returns -1 and may leave nodes: who goes on
// after a failure resets.
func (p *Parser) match(e *expr, pos int) int {
	if !p.step() {
		return -1
	}
	switch e.op {
	case opLiteral:
		return p.literal(e.lit, pos)
	case opClass:
		return p.class(e.class, pos)
	case opRule:
		return p.call(e.rule, pos)
	case opSequence:
		for _, s := range e.sub {
			if pos = p.match(s, pos); pos < 0 {
				return -1
			}
		}
		return pos
	case opChoice:
		return p.choice(e, pos)
	case opOptional:
		if end := p.try(e.sub[0], pos); end >= 0 {
			return end
		}
		return pos
	case opStar, opPlus, opRecover, opList, opListEnd:
		return p.repeat(e, pos)
	case opAnd, opNot, opNewline, opUnset:
		return p.predicate(e, pos)
	case opField:
		from := len(p.stack)
		end := p.match(e.sub[0], pos)
		for _, n := range p.stack[min(from, len(p.stack)):] {
			p.nodes[n].field = e.field
		}
		return end
	case opNode:
		from := len(p.stack)
		end := p.match(e.sub[0], pos)
		if end >= 0 {
			p.wrap(e.kind, from, pos, end)
		}
		return end
	case opSet, opClear:
		return p.flagged(e, pos)
	case opFold:
		return p.fold(e, pos)
	}
	return p.binary(e, pos, 0)
}

// try matches e or leaves everything as it was.
func (p *Parser) try(e *expr, pos int) int {
	if !p.starts(e, pos) {
		p.furthest = max(p.furthest, pos)
		return -1
	}
	m := p.mark()
	end := p.match(e, pos)
	if end < 0 {
		p.reset(m)
	}
	return end
}

func (p *Parser) choice(e *expr, pos int) int {
	for _, alt := range e.sub {
		if end := p.try(alt, pos); end >= 0 {
			return end
		}
	}
	return -1
}

// repeat matches lists. Every round takes a token, or the list ends.
func (p *Parser) repeat(e *expr, pos int) int {
	switch e.op {
	case opRecover:
		return p.recovering(e.sub[0], pos)
	case opList, opListEnd:
		return p.list(e, pos)
	case opPlus:
		if pos = p.match(e.sub[0], pos); pos < 0 {
			return -1
		}
	}
	for {
		end := p.try(e.sub[0], pos)
		if end <= pos {
			return pos
		}
		pos = end
	}
}

func (p *Parser) list(e *expr, pos int) int {
	if pos = p.match(e.sub[0], pos); pos < 0 {
		return -1
	}
	for {
		m := p.mark()
		end := p.try(e.sub[1], pos)
		if end < 0 {
			return pos
		}
		next := p.try(e.sub[0], end)
		if next < 0 {
			if e.op == opListEnd {
				return end
			}
			p.reset(m)
			return pos
		}
		pos = next
	}
}

func (p *Parser) predicate(e *expr, pos int) int {
	ok := false
	switch e.op {
	case opNewline:
		ok = p.tokens[pos].newline
	case opUnset:
		ok = p.flags&e.flag == 0
	default:
		m, furthest := p.mark(), p.furthest
		ok = p.try(e.sub[0], pos) >= 0 == (e.op == opAnd)
		p.reset(m)
		p.furthest = furthest
	}
	if !ok {
		return -1
	}
	return pos
}

func (p *Parser) flagged(e *expr, pos int) int {
	before := p.flags
	if e.op == opSet {
		p.flags |= e.flag
	} else {
		p.flags = 0
	}
	end := p.match(e.sub[0], pos)
	p.flags = before
	return end
}

// literal matches a fixed text.
func (p *Parser) literal(l *literal, pos int) int {
	end := p.textEnd(l, pos)
	if end < 0 {
		p.furthest = max(p.furthest, pos)
		return -1
	}
	if p.tokens[pos].layout() { // a semicolon that is not written
		return end
	}
	return p.leaf(l.kind, pos, end)
}

// textEnd returns the token after a literal, or -1.
func (p *Parser) textEnd(l *literal, pos int) int {
	if l.glued {
		at := int(p.tokens[pos].start)
		if at+len(l.text) > len(p.src) || string(p.src[at:at+len(l.text)]) != l.text {
			return -1
		}
		end := int32(at + len(l.text))
		for p.tokens[pos].end < end && p.tokens[pos].class != classEOF {
			pos++
		}
		if p.tokens[pos].end != end {
			return -1
		}
		return pos + 1
	}
	for _, id := range l.ids {
		if p.tokens[pos].id != id {
			return -1
		}
		pos++
	}
	return pos
}

func (p *Parser) class(c class, pos int) int {
	t := &p.tokens[pos]
	ok := t.class == c
	switch c {
	case classWord:
		ok = t.class == classIdent || t.class == classKeyword
	case classMeta:
		ok = t.meta
	case classAny:
		ok = t.class != classEOF && !p.bracket(t)
	}
	if !ok {
		p.furthest = max(p.furthest, pos)
		return -1
	}
	switch {
	case c == classEOF:
		return pos // more may look at it
	case t.layout():
		return pos + 1
	}
	return p.leaf(p.g.leaf[t.class], pos, pos+1)
}

func (p *Parser) bracket(t *token) bool {
	return t.class == classPunct && t.end == t.start+1 && isBracket(p.src[t.start])
}

func isBracket(b byte) bool {
	return b == '(' || b == ')' || b == '[' || b == ']' || b == '{' || b == '}'
}
