package syntax

import (
	"fmt"
	"slices"
	"strings"
)

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
