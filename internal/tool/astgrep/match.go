package astgrep

import (
	"bytes"
	"slices"

	"magicode/internal/syntax"
)

// maxSteps bounds the comparisons in one file. Patterns with several $$$ in a
// row would take very many.
const maxSteps = 4_000_000

// binding is what a metavariable stands for: neighbours in the source. From and
// to are bytes; tokens tell whether two are equal.
type binding struct {
	name             string
	start, end       int
	tokens, tokenEnd int
}

// match is one place where a pattern fits.
type match struct {
	start, end int // bytes
	bindings   []binding
}

// matcher compares one pattern with one tree.
type matcher struct {
	tree     *syntax.Tree
	bindings []binding
	steps    int
	stop     func() bool
	ended    bool // a bound was reached
}

// find returns the matches in the order of the text, an outer one before those
// inside, at most limit.
func (m *matcher) find(p *pattern, limit int) []match {
	var out []match
	for i := range m.tree.Nodes() {
		n := m.tree.Node(i)
		for _, f := range p.forms {
			if f.root.kind != n.KindID() {
				continue
			}
			m.bindings = m.bindings[:0]
			if m.one(&f.root, n) {
				out = append(out, match{n.Start(), n.End(), slices.Clone(m.bindings)})
				break
			}
		}
		if m.ended {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b match) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out = slices.CompactFunc(out, func(a, b match) bool { return a.start == b.start && a.end == b.end })
	return out[:min(len(out), limit)]
}

// step counts work; false means that a bound was reached.
func (m *matcher) step() bool {
	if m.ended {
		return false
	}
	m.steps++
	if m.steps > maxSteps || m.steps%4096 == 0 && m.stop() {
		m.ended = true
	}
	return !m.ended
}

// one compares an element with a node.
func (m *matcher) one(e *element, n syntax.Node) bool {
	if !m.step() {
		return false
	}
	if e.is != fixed {
		from, to := n.Tokens()
		return n.Named() && m.bind(e, binding{e.name, n.Start(), n.End(), from, to})
	}
	if e.kind != n.KindID() {
		return false
	}
	if n.Len() == 0 || len(e.children) == 0 {
		return n.Len() == len(e.children) && (!e.named || string(n.Text()) == e.text)
	}
	before := len(m.bindings)
	if m.sequence(e.children, n, 0) {
		return true
	}
	m.bindings = m.bindings[:before]
	return false
}

// sequence compares elements with the children of n from one on. Fixed texts of
// the source that the pattern does not have are passed over.
func (m *matcher) sequence(list []element, n syntax.Node, at int) bool {
	if !m.step() {
		return false
	}
	if len(list) == 0 {
		for ; at < n.Len(); at++ {
			if n.Child(at).Named() {
				return false
			}
		}
		return true
	}
	e := &list[0]
	if e.is == many {
		return m.many(list, n, at)
	}
	before := len(m.bindings)
	for i := at; i < n.Len(); i++ {
		c := n.Child(i)
		if m.one(e, c) && m.sequence(list[1:], n, i+1) {
			return true
		}
		m.bindings = m.bindings[:before]
		if c.Named() {
			break
		}
	}
	// A separator before a $$$ that matches nothing.
	if e.separator() && len(list) > 1 && list[1].is == many {
		return m.many(list[1:], n, at)
	}
	return false
}

// many lets $$$ take no child, one, two and so on.
func (m *matcher) many(list []element, n syntax.Node, at int) bool {
	e, rest := &list[0], list[1:]
	before := len(m.bindings)
	for end := at; end <= n.Len(); end++ {
		if len(rest) == 0 {
			end = n.Len()
		}
		if m.bind(e, span(e.name, n, at, end)) {
			if m.sequence(rest, n, end) {
				return true
			}
			// A separator after a $$$ that matched nothing.
			if end == at && len(rest) > 0 && rest[0].separator() && m.sequence(rest[1:], n, end) {
				return true
			}
		}
		m.bindings = m.bindings[:before]
		if m.ended {
			return false
		}
	}
	return false
}

// span is the part of n's children from one to another. Separators at its ends
// do not count.
func span(name string, n syntax.Node, from, to int) binding {
	for from < to && separates(n.Child(from)) {
		from++
	}
	for to > from && separates(n.Child(to-1)) {
		to--
	}
	if from == to {
		return binding{name: name}
	}
	first, last := n.Child(from), n.Child(to-1)
	token, _ := first.Tokens()
	_, tokenEnd := last.Tokens()
	return binding{name, first.Start(), last.End(), token, tokenEnd}
}

func separates(n syntax.Node) bool {
	return !n.Named() && (n.Kind() == "," || n.Kind() == ";")
}

// bind notes a metavariable, or compares with what it stands for already.
func (m *matcher) bind(e *element, b binding) bool {
	if e.name == "" {
		return true
	}
	for _, known := range m.bindings {
		if known.name == e.name {
			return m.equal(known, b)
		}
	}
	m.bindings = append(m.bindings, b)
	return true
}

// equal compares two parts of the source token by token: blanks and comments
// make no difference.
func (m *matcher) equal(a, b binding) bool {
	i, j := a.tokens, b.tokens
	for {
		for i < a.tokenEnd && m.tree.Layout(i) {
			i++
		}
		for j < b.tokenEnd && m.tree.Layout(j) {
			j++
		}
		if i == a.tokenEnd || j == b.tokenEnd {
			return i == a.tokenEnd && j == b.tokenEnd
		}
		if !m.step() || !bytes.Equal(m.tree.Token(i), m.tree.Token(j)) {
			return false
		}
		i, j = i+1, j+1
	}
}
