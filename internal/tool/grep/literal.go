package grep

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxLiterals bounds the literals that are searched for one by one; for more
// the automaton is quicker.
const maxLiterals = 8

// text is one literal. With fold it stands for any letter case: then it is
// lower-case ASCII without k and s, which have relatives outside of ASCII.
type text struct {
	s    string
	fold bool
}

// required returns literals of which every match contains at least one, and
// whether containing one is already a match. nil: there are none.
func required(re *syntax.Regexp) (lits []text, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return ofLiteral(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nil, false
		}
		lits, whole = required(re.Sub[0])
		return lits, whole && re.Min == 1
	case syntax.OpConcat:
		return requiredOfAll(re.Sub)
	case syntax.OpAlternate:
		return requiredOfAny(re.Sub)
	}
	return nil, false
}

func ofLiteral(re *syntax.Regexp) ([]text, bool) {
	s := string(re.Rune)
	if strings.ContainsAny(s, "\n\r") || strings.ContainsRune(s, utf8.RuneError) {
		return nil, false
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []text{{s: s}}, true
	}
	best := ""
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }) {
		if len(part) > len(best) {
			best = part
		}
	}
	if best == "" {
		return nil, false
	}
	return []text{{strings.ToLower(best), true}}, len(best) == len(s)
}

// requiredOfAll takes the part of a sequence that is likely the rarest.
func requiredOfAll(subs []*syntax.Regexp) (best []text, whole bool) {
	for _, sub := range subs {
		if lits, _ := required(sub); better(lits, best) {
			best = lits
		}
	}
	return best, false
}

func requiredOfAny(subs []*syntax.Regexp) (all []text, whole bool) {
	whole = true
	for _, sub := range subs {
		lits, w := required(sub)
		if lits == nil {
			return nil, false
		}
		all, whole = append(all, lits...), whole && w
	}
	return all, whole
}

func better(a, b []text) bool {
	if a == nil || b == nil {
		return a != nil
	}
	if x, y := shortest(a), shortest(b); x != y {
		return x > y
	}
	return len(a) < len(b)
}

func shortest(lits []text) int {
	n := len(lits[0].s)
	for _, t := range lits[1:] {
		n = min(n, len(t.s))
	}
	return n
}

// literal is one text to look for.
type literal struct {
	text []byte
	fold bool
	rare int // index of the byte that is looked for first
}

func newLiteral(t text) literal {
	l := literal{text: []byte(t.s), fold: t.fold}
	for i := range l.text {
		if rarity(l.text[i]) > rarity(l.text[l.rare]) {
			l.rare = i
		}
	}
	return l
}

// common lists bytes by how often they stand in source text, the most frequent first.
const common = " etaoinsrlcdupmfhgbyv_.,()\"w=-/:;0\tTSEkx1ARCINPOLDM'\n{}2[]FB3*BUGHVq4z5869#7j<>W@Y$&+XKQJZ!\\|?%`^~"

func rarity(b byte) int {
	if i := strings.IndexByte(common, b); i >= 0 {
		return i
	}
	return len(common)
}

// index finds the literal at or after from, or returns -1. When the rare byte
// turns out to be frequent here, it falls back to the library.
func (l *literal) index(data []byte, from int) int {
	if l.fold {
		return l.indexFold(data, from)
	}
	rareByte, n := l.text[l.rare], len(l.text)
	tries := 0
	for at := from + l.rare; at < len(data); {
		i := bytes.IndexByte(data[at:], rareByte)
		if i < 0 {
			return -1
		}
		at += i
		start := at - l.rare
		if start+n <= len(data) && string(data[start:start+n]) == string(l.text) {
			return start
		}
		at++
		if tries++; tries > 8+(at-from)>>6 {
			start++
			if i = bytes.Index(data[start:], l.text); i < 0 {
				return -1
			}
			return start + i
		}
	}
	return -1
}

// indexFold finds the literal in any letter case.
func (l *literal) indexFold(data []byte, from int) int {
	lower := l.text[l.rare]
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	from += l.rare
	nextLower, nextUpper := seek(data, from, lower), len(data)
	if upper != lower {
		nextUpper = seek(data, from, upper)
	}
	for {
		at := min(nextLower, nextUpper)
		if at == len(data) {
			return -1
		}
		if start := at - l.rare; start+len(l.text) <= len(data) && equalFold(data[start:start+len(l.text)], l.text) {
			return start
		}
		if at == nextLower {
			nextLower = seek(data, at+1, lower)
		} else {
			nextUpper = seek(data, at+1, upper)
		}
	}
}

// seek is bytes.IndexByte from an index on; the end of data if there is none.
func seek(data []byte, from int, b byte) int {
	if from >= len(data) {
		return len(data)
	}
	if i := bytes.IndexByte(data[from:], b); i >= 0 {
		return from + i
	}
	return len(data)
}

// equalFold compares with lower-case ASCII.
func equalFold(data, lower []byte) bool {
	for i, c := range data {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
