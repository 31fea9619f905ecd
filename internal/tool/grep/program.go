package grep

import (
	"errors"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// maxNodes bounds an automaton's program; a larger one is left to regexp.
const maxNodes = 20_000

var errTooLarge = errors.New("program too large")

type nodeKind uint8

const (
	nodeFail  nodeKind = iota
	nodeMatch          // a match ends here
	nodeSplit          // goes on at out and at alt
	nodeEmpty          // goes on at out if the place fulfils cond
	nodeByte           // consumes a byte between lo and hi
)

// node is one step of a program over bytes.
type node struct {
	kind   nodeKind
	lo, hi byte
	cond   syntax.EmptyOp
	out    int32
	alt    int32
}

// program is a pattern as steps over the bytes of UTF-8 text.
type program struct {
	nodes []node
	start int32
	words bool // it asks for word boundaries
}

// newProgram translates an expression.
func newProgram(re *syntax.Regexp) (*program, error) {
	src, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, errTooLarge
	}
	// The first nodes stand for the instructions, so that targets are known.
	p := &program{nodes: make([]node, len(src.Inst)), start: int32(src.Start)}
	for i := range src.Inst {
		p.translate(int32(i), &src.Inst[i])
		if len(p.nodes) > maxNodes {
			return nil, errTooLarge
		}
	}
	return p, nil
}

func (p *program) translate(at int32, in *syntax.Inst) {
	out := int32(in.Out)
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		p.nodes[at] = node{kind: nodeSplit, out: out, alt: int32(in.Arg)}
	case syntax.InstCapture, syntax.InstNop:
		p.nodes[at] = node{kind: nodeSplit, out: out, alt: out}
	case syntax.InstEmptyWidth:
		cond := syntax.EmptyOp(in.Arg)
		p.words = p.words || cond&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		p.nodes[at] = node{kind: nodeEmpty, cond: cond, out: out}
	case syntax.InstMatch:
		p.nodes[at] = node{kind: nodeMatch}
	case syntax.InstFail:
		p.nodes[at] = node{kind: nodeFail}
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL: // a line holds no line feed
		p.ranges(at, []rune{0, unicode.MaxRune}, out)
	case syntax.InstRune1, syntax.InstRune:
		p.ranges(at, runeRanges(in), out)
	}
}

// runeRanges lists the characters of an instruction as pairs.
func runeRanges(in *syntax.Inst) []rune {
	if len(in.Rune) != 1 {
		return in.Rune
	}
	r := in.Rune[0]
	out := []rune{r, r}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			out = append(out, f, f)
		}
	}
	return out
}

// ranges makes the node at consume one of the characters and go on at out.
func (p *program) ranges(at int32, pairs []rune, out int32) {
	var heads []int32
	for i := 0; i+1 < len(pairs); i += 2 {
		splitUTF8(pairs[i], pairs[i+1], func(lo, hi []byte) {
			next := out
			for k := len(lo) - 1; k >= 0; k-- {
				next = p.add(node{kind: nodeByte, lo: lo[k], hi: hi[k], out: next})
			}
			heads = append(heads, next)
		})
		if len(p.nodes) > maxNodes {
			return
		}
	}
	p.nodes[at] = node{kind: nodeFail}
	if len(heads) == 0 {
		return
	}
	next := heads[len(heads)-1]
	for i := len(heads) - 2; i >= 0; i-- {
		next = p.add(node{kind: nodeSplit, out: heads[i], alt: next})
	}
	p.nodes[at] = node{kind: nodeSplit, out: next, alt: next}
}

func (p *program) add(n node) int32 {
	p.nodes = append(p.nodes, n)
	return int32(len(p.nodes) - 1)
}

// splitUTF8 cuts a range of characters into ranges whose encodings have the
// same length and vary independently in each byte.
func splitUTF8(lo, hi rune, emit func(lo, hi []byte)) {
	for _, edge := range [...]rune{0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff} {
		if lo <= edge && edge < hi {
			splitUTF8(lo, edge, emit)
			splitUTF8(edge+1, hi, emit)
			return
		}
	}
	if lo > hi || lo >= 0xd800 && lo <= 0xdfff { // surrogates have no encoding
		return
	}
	for shift := 6; shift <= 18 && hi > 0x7f; shift += 6 {
		m := rune(1)<<shift - 1
		if lo&^m == hi&^m {
			continue
		}
		if lo&m != 0 {
			splitUTF8(lo, lo|m, emit)
			splitUTF8(lo|m+1, hi, emit)
			return
		}
		if hi&m != m {
			splitUTF8(lo, hi&^m-1, emit)
			splitUTF8(hi&^m, hi, emit)
			return
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	emit(a[:n], b[:n])
}
