package syntax

// maxIDs bounds the distinct token texts of a grammar.
const maxIDs = 256

// firstSet says which tokens an expression can start with.
type firstSet struct {
	ids     [maxIDs / 64]uint64
	classes uint32
}

func (s *firstSet) add(o *firstSet) {
	for i := range s.ids {
		s.ids[i] |= o.ids[i]
	}
	s.classes |= o.classes
}

func (s *firstSet) addID(id uint16) { s.ids[id/64] |= 1 << (id % 64) }

func (s *firstSet) addClass(c class) {
	switch c {
	case classWord:
		s.classes |= 1<<classIdent | 1<<classKeyword
	case classAny:
		s.classes |= ^uint32(1 << classEOF)
	default:
		s.classes |= 1 << c
	}
}

// has reports whether a token can be the first. Every token but those without a
// fixed text has an id above 0.
func (s *firstSet) has(t *token) bool {
	return s.classes&(1<<t.class) != 0 || t.id != 0 && s.ids[t.id/64]&(1<<(t.id%64)) != 0 || t.meta && s.classes&(1<<classMeta) != 0
}

// computeFirst fills first and nullable of all expressions.
func (g *grammar) computeFirst() {
	for changed := true; changed; {
		changed = false
		for _, r := range g.rules {
			if firstOf(r.body) {
				changed = true
			}
		}
	}
}

// firstOf updates e from what is known so far and reports a change.
func firstOf(e *expr) bool {
	changed := false
	for _, s := range e.sub {
		if firstOf(s) {
			changed = true
		}
	}
	set, nullable := e.first, e.nullable
	switch e.op {
	case opLiteral:
		set.addID(e.lit.ids[0])
	case opClass:
		set.addClass(e.class)
	case opRule:
		set.add(&e.rule.body.first)
		nullable = e.rule.body.nullable
	case opSequence:
		nullable = true
		for _, s := range e.sub {
			if nullable {
				set.add(&s.first)
			}
			nullable = nullable && s.nullable
		}
	case opChoice:
		for _, s := range e.sub {
			set.add(&s.first)
			nullable = nullable || s.nullable
		}
	case opAnd, opNot, opNewline, opUnset:
		nullable = true
	case opOptional, opStar, opRecover:
		set.add(&e.sub[0].first)
		nullable = true
	default: // the first part decides
		set.add(&e.sub[0].first)
		nullable = e.sub[0].nullable
	}
	if set != e.first || nullable != e.nullable {
		e.first, e.nullable = set, nullable
		return true
	}
	return changed
}
