package grep

import (
	"bytes"
	"regexp/syntax"
	"unicode/utf8"
)

// matcher finds the lines of a text that match. It belongs to one goroutine;
// clone makes another.
type matcher struct {
	expr *expression
	prog *program // nil: too large, regexp decides
	lits []literal
	// whole: a line that contains one of lits matches.
	whole bool

	auto *automaton
	next []int // where each literal stands next; -1: nowhere
}

func newMatcher(e *expression) *matcher {
	m := &matcher{expr: e}
	re, err := syntax.Parse(e.source, syntax.Perl)
	if err != nil { // it was compiled before
		return m
	}
	re = re.Simplify()
	lits, whole := required(re)
	if len(lits) > 0 && len(lits) <= maxLiterals {
		m.whole = whole
		for _, t := range lits {
			m.lits = append(m.lits, newLiteral(t))
		}
	}
	if m.whole {
		return m
	}
	if p, err := newProgram(re); err == nil {
		m.prog = p
	}
	return m
}

// clone shares what does not change.
func (m *matcher) clone() *matcher {
	c := *m
	c.next = make([]int, len(m.lits))
	if c.prog != nil {
		c.auto = newAutomaton(c.prog)
	}
	return &c
}

// line decides about one line without its end.
func (m *matcher) line(text []byte, valid bool) bool {
	if m.auto != nil && (valid || utf8.Valid(text)) {
		return m.auto.matches(text)
	}
	return m.expr.re.Match(text)
}

// span is one matching line: its number and its text in the data, without its
// end. hit is where a literal was found, or -1.
type span struct {
	number     int
	start, end int
	hit        int
}

// scan calls found for each matching line, until it returns false. valid says
// that the data is UTF-8.
func (m *matcher) scan(data []byte, valid bool, found func(span) bool) {
	if len(m.lits) > 0 {
		m.scanLiterals(data, valid, found)
		return
	}
	if m.auto != nil && valid && bytes.IndexByte(data, '\r') < 0 {
		m.scanRun(data, found)
		return
	}
	number, start := 0, 0
	for start < len(data) {
		number++
		end, next := lineEnd(data, start)
		if m.line(data[start:end], valid) && !found(span{number, start, end, -1}) {
			return
		}
		start = next
	}
}

// scanRun lets the automaton run over all lines at once.
func (m *matcher) scanRun(data []byte, found func(span) bool) {
	number, next := 0, 0
	for next < len(data) {
		at := m.auto.find(data, next)
		if at < 0 {
			return
		}
		// The index may be that of the line feed itself.
		start := next + bytes.LastIndexByte(data[next:at], '\n') + 1
		number += bytes.Count(data[next:start], newline) + 1
		var end int
		end, next = lineEnd(data, start)
		if !found(span{number, start, end, -1}) {
			return
		}
	}
}

// scanLiterals looks only at lines that hold one of the literals.
func (m *matcher) scanLiterals(data []byte, valid bool, found func(span) bool) {
	for i := range m.lits {
		m.next[i] = m.lits[i].index(data, 0)
	}
	number, counted := 1, 0 // the line that holds data[counted]
	for {
		at := m.nearest()
		if at < 0 {
			return
		}
		start := counted + bytes.LastIndexByte(data[counted:at], '\n') + 1
		number += bytes.Count(data[counted:start], newline)
		end, next := lineEnd(data, start)
		if m.whole || m.line(data[start:end], valid) {
			if !found(span{number, start, end, at}) {
				return
			}
		}
		for i, n := range m.next {
			if n >= 0 && n < next {
				m.next[i] = m.lits[i].index(data, next)
			}
		}
		if next > end { // there was a line feed
			number++
		}
		counted = next
	}
}

var newline = []byte{'\n'}

func (m *matcher) nearest() int {
	at := -1
	for _, n := range m.next {
		if n >= 0 && (at < 0 || n < at) {
			at = n
		}
	}
	return at
}

// lineEnd returns where the line's text ends, without LF or CRLF, and where the
// next one starts.
func lineEnd(data []byte, start int) (end, next int) {
	i := bytes.IndexByte(data[start:], '\n')
	if i < 0 {
		return len(data), len(data)
	}
	end, next = start+i, start+i+1
	if i > 0 && data[end-1] == '\r' {
		end--
	}
	return end, next
}
