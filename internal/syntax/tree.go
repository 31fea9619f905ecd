package syntax

import "sort"

// node is one node. Tokens from..to are its own; children are kids[first:first+count].
type node struct {
	kind         uint16
	field        uint8
	from, to     int32
	first, count int32
}

// Tree is a parsed text. It belongs to its Parser until the next parse.
type Tree struct {
	Language *Language
	Source   []byte
	// Broken is true where parts of the text did not fit the grammar. They are
	// ERROR nodes.
	Broken bool

	g      *grammar
	tokens []token
	nodes  []node
	kids   []int32
	root   int32
	lines  []int32 // offsets at which lines start
}

func (p *Parser) tree(l *Language, root int32) *Tree {
	return &Tree{Language: l, Source: p.src, Broken: p.broken, g: p.g, tokens: p.tokens, nodes: p.nodes, kids: p.kids, root: root}
}

// Node is a node of a tree. The zero value is no node.
type Node struct {
	t  *Tree
	id int32
}

// Root returns the node of the whole text.
func (t *Tree) Root() Node { return Node{t, t.root} }

// Nodes is the number of nodes.
func (t *Tree) Nodes() int { return len(t.nodes) }

// Is reports whether there is a node.
func (n Node) Is() bool { return n.t != nil }

func (n Node) raw() *node { return &n.t.nodes[n.id] }

// Kind is the node's kind; that of a fixed text is the text itself.
func (n Node) Kind() string { return n.t.g.kinds[n.raw().kind] }

// KindID is the kind as a number, which is the same in all trees of a language.
func (n Node) KindID() uint16 { return n.raw().kind }

// Named is false for fixed texts such as operators, keywords and separators.
func (n Node) Named() bool { return n.t.g.named[n.raw().kind] }

// Field is the field of its parent that the node stands in, or "".
func (n Node) Field() string { return n.t.g.fields[n.raw().field] }

// Len is the number of children.
func (n Node) Len() int { return int(n.raw().count) }

// Child returns a child.
func (n Node) Child(i int) Node { return Node{n.t, n.t.kids[int(n.raw().first)+i]} }

// ByField returns the first child in a field, or no node.
func (n Node) ByField(name string) Node {
	for i := range n.Len() {
		if c := n.Child(i); c.Field() == name {
			return c
		}
	}
	return Node{}
}

// Start is the byte offset of the node's first token.
func (n Node) Start() int { return int(n.t.tokens[n.raw().from].start) }

// End is the byte offset after the node's last token.
func (n Node) End() int {
	r := n.raw()
	if r.to <= r.from {
		return n.Start()
	}
	return int(n.t.tokens[r.to-1].end)
}

// Text is the node's part of the source.
func (n Node) Text() []byte { return n.t.Source[n.Start():n.End()] }

// Tokens returns the bounds of the node's tokens, for Token.
func (n Node) Tokens() (from, to int) { return int(n.raw().from), int(n.raw().to) }

// Token is the text of a token; that of layout is empty.
func (t *Tree) Token(i int) []byte { return t.Source[t.tokens[i].start:t.tokens[i].end] }

// Meta reports whether the node is one metavariable and nothing else.
func (n Node) Meta() bool {
	r := n.raw()
	return r.to == r.from+1 && n.t.tokens[r.from].meta
}

// Layout reports whether a token stands for line ends or indentation.
func (t *Tree) Layout(i int) bool { return t.tokens[i].layout() }

// Position returns the line and the column of a byte offset, both from 1. The
// column counts bytes.
func (t *Tree) Position(offset int) (line, column int) {
	if t.lines == nil {
		t.lines = append(t.lines, 0)
		for i, b := range t.Source {
			if b == '\n' {
				t.lines = append(t.lines, int32(i+1))
			}
		}
	}
	line = sort.Search(len(t.lines), func(i int) bool { return int(t.lines[i]) > offset })
	return line, offset - int(t.lines[line-1]) + 1
}

// Node returns a node by its number, which is below Nodes. Children come before
// their parents.
func (t *Tree) Node(i int) Node { return Node{t, int32(i)} }

// Line is the text of a line, from 1, without its end.
func (t *Tree) Line(n int) []byte {
	t.Position(0)
	end := len(t.Source)
	if n < len(t.lines) {
		end = int(t.lines[n]) - 1
	}
	line := t.Source[t.lines[n-1]:end]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}

// Language is that of the node's tree.
func (n Node) Language() *Language { return n.t.Language }
