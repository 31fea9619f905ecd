package syntax

import (
	"context"
	"errors"
	"testing"
)

// FuzzParse: whatever the text, a parse ends, stays within its bounds, and gives
// a tree whose nodes lie within their parents and in order, with all tokens but
// layout at its leaves.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"package a\nfunc f() { x := T{1, 2} }", "def f(a, *b):\n  return [x for x in a]\n", "const a = (b) => `c${d}`; <A>{b}</A>",
		"fn f<'a>(x: &'a T) -> Vec<u8> { x!{a} }", "type A<T> = { [k in T]?: B<C>[] }", "}{)(][", "'\"`/*", "#[a] $A $$$B", "\xff\xfe", "f'{a!r:{b}}' rf\"\"\"{{\n{c=}\"\"\"", "if a:\n\tb\n  c",
	} {
		for i := range Languages() {
			f.Add(s, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, src string, which uint8) {
		l := Languages()[int(which)%len(Languages())]
		var p Parser
		tree, err := p.Parse(context.Background(), l, []byte(src))
		if err != nil {
			if !errors.Is(err, ErrBounds) && !errors.Is(err, ErrBinary) && !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		checkNode(t, tree.Root())
		leaves := 0
		countLeaves(tree.Root(), &leaves)
		tokens := 0
		for i := range p.tokens {
			if !p.tokens[i].layout() && p.tokens[i].class != classEOF {
				tokens++
			}
		}
		if leaves != tokens {
			t.Errorf("%d tokens at the leaves of %d", leaves, tokens)
		}
		err = p.ParseFragment(context.Background(), l, []byte(src), func(tree *Tree) { checkNode(t, tree.Root()) })
		if err != nil && !errors.Is(err, ErrBounds) {
			t.Error(err)
		}
	})
}

func checkNode(t *testing.T, n Node) {
	if n.Start() > n.End() || n.End() > len(n.t.Source) {
		t.Fatalf("%s: %d..%d", n.Kind(), n.Start(), n.End())
	}
	at := n.Start()
	for i := range n.Len() {
		c := n.Child(i)
		if c.Start() < at || c.End() > n.End() {
			t.Fatalf("%s %d..%d in %s %d..%d, after %d", c.Kind(), c.Start(), c.End(), n.Kind(), n.Start(), n.End(), at)
		}
		at = c.End()
		checkNode(t, c)
	}
}

// countLeaves counts the tokens of leaves that are no layout.
func countLeaves(n Node, count *int) {
	if n.Len() == 0 {
		for i, to := n.Tokens(); i < to; i++ {
			if !n.t.Layout(i) {
				*count++
			}
		}
		return
	}
	for i := range n.Len() {
		countLeaves(n.Child(i), count)
	}
}
