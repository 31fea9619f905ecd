package syntax

import (
	"fmt"
	"slices"
	"strings"
)

// maxMemos: a token has 64 bits for known failures, four for the flags of a rule.
const maxMemos = 16

// compile reads a grammar. The notation, loosest first:
//
//	name = a | b          a rule; indented lines go on with it. The name starts with
//	                      "_" if the rule makes no node, and ends in "!" if its
//	                      failures are worth keeping
//	a b                   sequence
//	x % y   x %% y        x once or more with y between; %% allows y at the end
//	x?  x*  x+  x**       ** leaves out lines that do not fit, when a file has errors
//	&x  !x                x follows, x does not follow; nothing is taken
//	f:x                   the nodes of x stand in field f
//	kind{ ... }           a node
//	[* base : kind{...} | kind{...} ]   base, wrapped by suffixes: [? once at most, [! once
//	[% kind operand : 'a' 'b' / ^'c' !'d' ]  binary operators, the loosest first; ^ from
//	                      the right; ! is none here, and must not be taken for its start
//	@S(x)  @0(x)  @-S     with flag S, without flags, only where S is not set
//	'text'  CLASS  NL     tokens; NL is before a token on a new line
//
// A mistake in a grammar is a broken invariant: it panics. Tests compile all.
func compile(text, split string, reserved ...string) *grammar {
	g := &grammar{kindOf: map[string]uint16{}, fieldOf: map[string]uint8{}, literals: map[string]*literal{}, ids: map[string]uint16{}, rules: map[string]*rule{}, split: split, reserved: map[string]bool{}}
	g.kind("ERROR", true)
	g.field("")
	g.idNames = []string{""}
	for c, name := range leafKinds {
		if name != "" {
			g.leaf[c] = g.kind(name, class(c) != classPunct && class(c) != classJSXOpen && class(c) != classKeyword)
		}
	}
	for _, w := range reserved {
		g.reserved[w] = true
	}
	for _, b := range []byte(split) {
		g.id(string(b))
	}
	g.readRules(text)
	for _, r := range g.rules {
		if r.body == nil {
			panic("syntax: no rule " + r.name)
		}
	}
	g.computeFirst()
	for i := range g.puncts {
		slices.SortFunc(g.puncts[i], func(a, b string) int { return len(b) - len(a) })
	}
	return g
}

func (g *grammar) readRules(text string) {
	var start int
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i = start {
		start = i + 1
		if strings.TrimSpace(lines[i]) == "" || lines[i][0] == '#' {
			continue
		}
		for start < len(lines) && (strings.TrimSpace(lines[start]) == "" || lines[start][0] == ' ' || lines[start][0] == '#') {
			start++
		}
		name, body, ok := strings.Cut(strings.Join(lines[i:start], ""), " = ")
		if !ok {
			panic("syntax: not a rule: " + lines[i])
		}
		bare := strings.TrimSuffix(name, "!")
		r := g.rule(bare)
		if bare != name {
			r.memo = g.memos
			if g.memos++; g.memos > maxMemos {
				panic("syntax: too many rules whose failures are kept")
			}
		}
		n := &notation{g: g, text: body, rule: bare}
		r.body = n.choice()
		if n.next() != "" {
			panic(fmt.Sprintf("syntax: rule %s: unexpected %q", bare, n.next()))
		}
	}
}

// rule returns a rule by its name, which may be read later.
func (g *grammar) rule(name string) *rule {
	r := g.rules[name]
	if r == nil {
		r = &rule{name: name, hidden: name[0] == '_', memo: -1}
		if !r.hidden {
			r.kind = g.kind(name, true)
		}
		g.rules[name] = r
	}
	return r
}

// id numbers a token text.
func (g *grammar) id(text string) uint16 {
	if id, ok := g.ids[text]; ok {
		return id
	}
	id := uint16(len(g.idNames))
	if id >= maxIDs {
		panic("syntax: too many literals")
	}
	g.ids[text], g.idNames = id, append(g.idNames, text)
	if !wordByte(text[0]) {
		g.puncts[text[0]] = append(g.puncts[text[0]], text)
	}
	return id
}

func (g *grammar) literal(text string) *literal {
	if l := g.literals[text]; l != nil {
		return l
	}
	l := &literal{text: text, kind: g.kind(text, false)}
	switch {
	case strings.Contains(text, " "):
		for _, w := range strings.Fields(text) {
			l.ids = append(l.ids, g.id(w))
		}
	case len(text) > 1 && strings.IndexByte(g.split, text[0]) >= 0:
		l.glued, l.ids = true, []uint16{g.id(text[:1])}
	default:
		l.ids = []uint16{g.id(text)}
	}
	g.literals[text] = l
	return l
}
