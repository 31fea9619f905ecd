package hashedit

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"magicode/internal/syntax"
)

// blocks finds syntactic units of one text, which is parsed when the first is
// asked for.
type blocks struct {
	doc  document
	name string

	parsed bool
	ends   map[int]int // by the line that a unit starts on: where the smallest ends
	err    error
}

// end returns the last line of the smallest named node that starts on line n and
// ends on a later one.
func (b *blocks) end(ctx context.Context, n int) (int, error) {
	if !b.parsed {
		b.parsed = true
		b.err = b.parse(ctx)
	}
	if b.err != nil {
		return 0, b.err
	}
	last, ok := b.ends[n]
	if !ok {
		return 0, errNoBlock
	}
	return last, nil
}

// parse fills ends. Block operations are for the languages of tools.md 1.9.3.
func (b *blocks) parse(ctx context.Context) error {
	switch strings.ToLower(filepath.Ext(b.name)) {
	case ".rs", ".py", ".js", ".jsx", ".ts", ".tsx", ".go":
	default:
		return errUnsupported
	}
	var p syntax.Parser
	tree, err := p.Parse(ctx, syntax.ByPath(b.name), []byte(b.doc.text()))
	switch {
	case errors.Is(err, syntax.ErrBounds), errors.Is(err, syntax.ErrTooLarge):
		return errUnparsed
	case err != nil, tree.Broken:
		return errSyntax
	}
	b.ends = map[int]int{}
	for i := range tree.Nodes() {
		node := tree.Node(i)
		if node == tree.Root() || !node.Named() {
			continue
		}
		first, _ := tree.Position(node.Start())
		last, _ := tree.Position(max(node.Start(), node.End()-1))
		if known, ok := b.ends[first]; last > first && (!ok || last < known) {
			b.ends[first] = last
		}
	}
	return nil
}
