package syntax

// fold matches a base and wraps it by the suffixes that follow.
func (p *Parser) fold(e *expr, pos int) int {
	from := len(p.stack)
	end := p.match(e.sub[0], pos)
	if end < 0 {
		return -1
	}
	for wrapped := false; ; wrapped = true {
		next := p.suffix(e, from, pos, end)
		switch {
		case next < 0 && e.mode == '!' && !wrapped:
			return -1
		case next < 0:
			return end
		}
		if end = next; e.mode != '*' {
			return end
		}
	}
}

// suffix tries the suffixes in turn. The base's nodes are the suffix's first.
func (p *Parser) suffix(e *expr, from, pos, end int) int {
	for _, s := range e.sub[1:] {
		if next := p.try(s.sub[0], end); next >= 0 {
			p.wrap(s.kind, from, pos, next)
			return next
		}
	}
	return -1
}

// binary matches operands and operators that bind at least as tight as level.
func (p *Parser) binary(e *expr, pos, level int) int {
	from := len(p.stack)
	end := p.match(e.sub[0], pos)
	if end < 0 {
		return -1
	}
	for p.step() {
		m := p.mark()
		b, next := p.operator(e, end)
		if b == nil || b.level <= level {
			return end
		}
		p.leaf(b.lit.kind, end, next)
		above := b.level
		if b.right {
			above--
		}
		if next = p.operand(e, next, above); next < 0 {
			p.reset(m)
			return end
		}
		p.wrap(e.kind, from, pos, next)
		end = next
	}
	return -1
}

// operand is binary, counted as nesting.
func (p *Parser) operand(e *expr, pos, level int) int {
	if p.depth++; p.depth > maxDepth && p.err == nil {
		p.err = ErrBounds
	}
	end := p.binary(e, pos, level)
	p.depth--
	return end
}

// operator finds the longest operator at a token.
func (p *Parser) operator(e *expr, pos int) (*binary, int) {
	id := p.tokens[pos].id
	if id == 0 {
		return nil, pos
	}
	for _, b := range e.levels {
		if b.lit.ids[0] != id {
			continue
		}
		if next := p.textEnd(b.lit, pos); next >= 0 {
			return b, next
		}
	}
	return nil, pos
}
