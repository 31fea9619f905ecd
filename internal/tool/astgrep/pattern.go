package astgrep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"magicode/internal/syntax"
)

// maxPatternNodes bounds the nodes of a pattern: tools.md 1.14.
const maxPatternNodes = 256

// pattern is a compiled pattern of one language.
type pattern struct {
	forms []*form
	names map[string]bool // of metavariables that are kept
}

// form is one construct that the pattern's text can be.
type form struct {
	root  element
	needs []string // texts that every match holds
}

type elementKind uint8

const (
	fixed elementKind = iota // a node, or a text without children
	one                      // $NAME: one named node
	many                     // $$$NAME: any number of nodes
)

// element is one node of a pattern.
type element struct {
	is       elementKind
	name     string // of a metavariable that is kept
	kind     uint16
	named    bool
	text     string // of an element without children
	children []element
}

// separator reports whether the element may be left out beside a $$$ that
// matches nothing.
func (e *element) separator() bool { return e.is == fixed && (e.text == "," || e.text == ";") }

// compile reads a pattern's text.
func compile(ctx context.Context, l *syntax.Language, text string) (*pattern, error) {
	p := &pattern{names: map[string]bool{}}
	var parser syntax.Parser
	var seen []string
	var bad error
	err := parser.ParseFragment(ctx, l, []byte(strings.TrimSpace(text)), func(t *syntax.Tree) {
		if t.Nodes() > maxPatternNodes {
			bad = fmt.Errorf("the pattern has more than %d nodes", maxPatternNodes)
			return
		}
		f := &form{root: p.element(t.Root())}
		if key := f.root.key(); !slices.Contains(seen, key) {
			seen = append(seen, key)
			f.root.words(&f.needs)
			p.forms = append(p.forms, f)
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, syntax.ErrBinary), errors.Is(err, syntax.ErrBounds):
		return nil, fmt.Errorf("the pattern cannot be read: %w", err)
	case bad != nil:
		return nil, bad
	case len(p.forms) == 0:
		return nil, fmt.Errorf("the pattern is not one complete construct of %s: write a whole expression, statement, declaration or type", l.Name)
	case p.forms[0].root.is != fixed:
		return nil, errors.New("a metavariable alone matches everything; write more of the pattern")
	}
	return p, nil
}

// element copies a node. A node that is a metavariable and nothing else stands
// for whatever the metavariable does.
func (p *pattern) element(n syntax.Node) element {
	if n.Meta() {
		text := string(n.Text())
		name := strings.TrimLeft(text, "$")
		e := element{is: one}
		if strings.HasPrefix(text, "$$$") {
			e.is = many
		}
		if name != "" && name[0] != '_' {
			e.name = name
			p.names[name] = true
		}
		return e
	}
	e := element{kind: n.KindID(), named: n.Named()}
	if n.Len() == 0 {
		e.text = string(n.Text())
	}
	for i := range n.Len() {
		e.children = append(e.children, p.element(n.Child(i)))
	}
	return e
}

// key is equal for equal elements only.
func (e *element) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %q %q(", e.is, e.kind, e.name, e.text)
	for i := range e.children {
		b.WriteString(e.children[i].key())
	}
	return b.String() + ")"
}

// words adds the texts that a match must hold as they are. Operators of several
// words may have any blanks between these.
func (e *element) words(list *[]string) {
	if len(e.children) == 0 && e.is == fixed && len(e.text) > 1 && (e.named || !strings.Contains(e.text, " ")) && !slices.Contains(*list, e.text) {
		*list = append(*list, e.text)
	}
	for i := range e.children {
		e.children[i].words(list)
	}
}
