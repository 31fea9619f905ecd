package syntax

// recovering matches items as often as it can. In a mending run what does not
// fit is left out up to the end of its line, as an ERROR node, and the list goes
// on: so an error stays within the innermost block.
func (p *Parser) recovering(item *expr, pos int) int {
	p.lists++
	defer func() { p.lists-- }()
	for {
		end := p.try(item, pos)
		if !p.step() { // lineEnd counts, and what starts with nothing known takes no step of its own
			return -1
		}
		if end > pos {
			pos = end
			continue
		}
		if !p.mend || !p.mendable(pos) {
			return pos
		}
		end = p.lineEnd(pos)
		p.rubbish(pos, end)
		pos = end
	}
}

// rubbish makes an ERROR node of tokens, without the layout around them.
func (p *Parser) rubbish(pos, end int) {
	p.broken = true
	for pos < end && p.tokens[pos].layout() {
		pos++
	}
	for end > pos && p.tokens[end-1].layout() {
		end--
	}
	if pos < end {
		p.leaf(0, pos, end)
	}
}

// mendable: a closing bracket ends a list, but for the outermost one.
func (p *Parser) mendable(pos int) bool {
	t := &p.tokens[pos]
	if t.class == classEOF {
		return false
	}
	return p.lists == 1 || !p.closes(t)
}

func (p *Parser) closes(t *token) bool {
	return t.class == classDedent || p.bracket(t) && (p.src[t.start] == ')' || p.src[t.start] == ']' || p.src[t.start] == '}')
}

func (p *Parser) opens(t *token) bool {
	return t.class == classIndent || p.bracket(t) && !p.closes(t)
}

// lineEnd returns the first token on a line after the last failure: where
// brackets are balanced if there is such a place, else the very next line.
func (p *Parser) lineEnd(pos int) int {
	bad, depth, first := max(p.furthest, pos), 0, -1
	for i := pos; ; i++ {
		t := &p.tokens[i]
		p.steps++
		if t.class == classEOF {
			if first < 0 {
				return i
			}
			return first
		}
		if i > pos && i > bad && t.newline {
			if depth <= 0 {
				return i
			}
			if first < 0 {
				first = i
			}
		}
		switch {
		case p.opens(t):
			depth++
		case p.closes(t):
			if depth--; depth < 0 && i > pos && p.lists > 1 {
				return i
			}
		}
	}
}
