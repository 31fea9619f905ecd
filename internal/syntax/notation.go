package syntax

import (
	"fmt"
	"slices"
	"strings"
)

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
			g.memos++
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

// notation reads one rule's body.
type notation struct {
	g    *grammar
	text string
	rule string
}

// next looks at the next sign.
func (n *notation) next() string {
	for {
		n.text = strings.TrimLeft(n.text, " \t\r\n")
		if !strings.HasPrefix(n.text, "#") {
			break
		}
		_, n.text, _ = strings.Cut(n.text, "\n")
	}
	if n.text == "" {
		return ""
	}
	if wordByte(n.text[0]) {
		end := 1
		for end < len(n.text) && wordByte(n.text[end]) {
			end++
		}
		return n.text[:end]
	}
	for _, s := range []string{"**", "%%", "[*", "[?", "[!", "[%", "@-"} {
		if strings.HasPrefix(n.text, s) {
			return s
		}
	}
	return n.text[:1]
}

// take takes the sign if it is next.
func (n *notation) take(sign string) bool {
	if n.next() != sign {
		return false
	}
	n.text = n.text[len(sign):]
	return true
}

func (n *notation) want(sign string) {
	if !n.take(sign) {
		panic(fmt.Sprintf("syntax: rule %s: want %q before %.40q", n.rule, sign, n.text))
	}
}

// word takes a word.
func (n *notation) word() string {
	w := n.next()
	if w == "" || !wordByte(w[0]) {
		panic(fmt.Sprintf("syntax: rule %s: want a word before %.40q", n.rule, n.text))
	}
	n.text = n.text[len(w):]
	return w
}

func (n *notation) choice() *expr {
	list := []*expr{n.sequence()}
	for n.take("|") {
		list = append(list, n.sequence())
	}
	if len(list) == 1 {
		return list[0]
	}
	return &expr{op: opChoice, sub: list}
}

func (n *notation) sequence() *expr {
	var list []*expr
	for {
		switch n.next() {
		case "", "|", ")", "]", "}", ":", "/":
			if len(list) == 1 {
				return list[0]
			}
			return &expr{op: opSequence, sub: list}
		}
		list = append(list, n.list())
	}
}

// list reads x, x % y or x %% y.
func (n *notation) list() *expr {
	x := n.postfix()
	switch {
	case n.take("%%"):
		return &expr{op: opListEnd, sub: []*expr{x, n.postfix()}}
	case n.take("%"):
		return &expr{op: opList, sub: []*expr{x, n.postfix()}}
	}
	return x
}

func (n *notation) postfix() *expr {
	x := n.primary()
	for {
		var o op
		switch {
		case n.take("?"):
			o = opOptional
		case n.take("**"):
			o = opRecover
		case n.take("*"):
			o = opStar
		case n.take("+"):
			o = opPlus
		default:
			return x
		}
		x = &expr{op: o, sub: []*expr{x}}
	}
}

func (n *notation) primary() *expr {
	switch sign := n.next(); sign {
	case "(":
		n.want("(")
		x := n.choice()
		n.want(")")
		return x
	case "&", "!":
		n.want(sign)
		return &expr{op: map[string]op{"&": opAnd, "!": opNot}[sign], sub: []*expr{n.primary()}}
	case "'":
		return &expr{op: opLiteral, lit: n.literal()}
	case "@-":
		n.want("@-")
		return &expr{op: opUnset, flag: flagOf(n.word())}
	case "@":
		n.want("@")
		name := n.word()
		n.want("(")
		x := n.choice()
		n.want(")")
		if name == "0" {
			return &expr{op: opClear, sub: []*expr{x}}
		}
		return &expr{op: opSet, flag: flagOf(name), sub: []*expr{x}}
	case "[*", "[?", "[!":
		n.want(sign)
		return n.fold(sign[1])
	case "[%":
		n.want(sign)
		return n.binary()
	}
	return n.named()
}

func (n *notation) literal() *literal {
	end := strings.IndexByte(n.text[1:], '\'')
	if end < 1 {
		panic("syntax: rule " + n.rule + ": a literal without an end")
	}
	text := n.text[1 : 1+end]
	n.text = n.text[2+end:]
	return n.g.literal(text)
}

func flagOf(name string) uint8 { return 1 << (name[0] - 'S') } // S and T

// named reads a rule, a class, a node or a field.
func (n *notation) named() *expr {
	w := n.word()
	switch {
	case w == "NL":
		return &expr{op: opNewline}
	case classNames[w] != classNone:
		return &expr{op: opClass, class: classNames[w]}
	case strings.HasPrefix(n.text, "{"):
		n.want("{")
		x := n.choice()
		n.want("}")
		return &expr{op: opNode, kind: n.g.kind(w, true), sub: []*expr{x}}
	case len(n.text) > 1 && n.text[0] == ':' && n.text[1] != ' ':
		n.want(":")
		return &expr{op: opField, field: n.g.field(w), sub: []*expr{n.postfix()}}
	}
	return &expr{op: opRule, rule: n.g.rule(w)}
}

func (n *notation) fold(mode byte) *expr {
	e := &expr{op: opFold, mode: mode, sub: []*expr{n.choice()}}
	n.want(":")
	for {
		suffix := n.primary()
		if suffix.op != opNode {
			panic("syntax: rule " + n.rule + ": a suffix that is no node")
		}
		e.sub = append(e.sub, suffix)
		if !n.take("|") {
			break
		}
	}
	n.want("]")
	return e
}

func (n *notation) binary() *expr {
	e := &expr{op: opBinary, kind: n.g.kind(n.word(), true), sub: []*expr{n.postfix()}}
	n.want(":")
	for level := 1; ; {
		switch sign := n.next(); sign {
		case "'", "^", "!":
			b := &binary{level: level, right: n.take("^")}
			if n.take("!") {
				b.level = 0 // binds less than any operand asks for
			}
			n.next()
			b.lit = n.literal()
			e.levels = append(e.levels, b)
		case "/":
			n.want("/")
			level++
		default:
			n.want("]")
			slices.SortStableFunc(e.levels, func(a, b *binary) int { return len(b.lit.text) - len(a.lit.text) })
			return e
		}
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
