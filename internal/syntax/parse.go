package syntax

import (
	"bytes"
	"context"
	"errors"
)

// Bounds of a parse.
const (
	// MaxBytes is the longest text that is parsed: the bound of a file that
	// hash_edit edits (tools.md 1.9).
	MaxBytes = 1 << 20
	// maxDepth bounds nested rules. A nested expression takes about ten, so it
	// allows some 600 levels, and some 10 MiB of stack.
	maxDepth = 6000
	// stepsPerToken bounds the work of one run. Source text takes 6 to 11 a token, at most 21.
	stepsPerToken = 200
	freeSteps     = 2_000_000
	checkEvery    = 4096 // steps between looks at the context
)

// Errors of Parse. With each there is no tree.
var (
	ErrTooLarge = errors.New("the text is too large to be parsed")
	ErrBinary   = errors.New("the text holds NUL bytes")
	ErrBounds   = errors.New("the text is nested too deeply or takes too long to be parsed")
)

// Parser parses one text after the other and keeps its memory between them. The
// zero value is ready. It is not safe for concurrent use.
type Parser struct {
	g      *grammar
	src    []byte
	tokens []token
	nodes  []node
	kids   []int32
	stack  []int32  // nodes without a parent yet
	failed []uint64 // by token: which rules are known to fail there, under which flags

	flags    uint8
	depth    int
	lists    int // recovering lists around the present one
	furthest int // token where the last failure was
	mend     bool
	broken   bool

	steps, limit, check int
	ctxErr              func() error
	err                 error // ends the run
}

// Parse parses a whole file. The tree is valid until the next call. Text that
// does not fit the grammar makes a tree that is Broken; an error is one of this
// package's, or the context's.
func (p *Parser) Parse(ctx context.Context, l *Language, src []byte) (*Tree, error) {
	if err := p.load(ctx, l, src, false); err != nil {
		return nil, err
	}
	top := l.grammar().rules[l.top]
	if root := p.run(top, false); root >= 0 {
		return p.tree(l, root), nil
	}
	if p.err == nil {
		if root := p.run(top, true); root >= 0 {
			return p.tree(l, root), nil
		}
	}
	if p.err == nil {
		p.err = ErrBounds // the mending run takes every text but for its bounds
	}
	return nil, p.err
}

// ParseFragment parses a text as one of the constructs that a search pattern can
// be, in the language's order, and calls use with each tree that fits the whole
// text. A tree is valid during the call only. Metavariables ($NAME, $$$NAME) are
// read as identifiers.
func (p *Parser) ParseFragment(ctx context.Context, l *Language, src []byte, use func(*Tree)) error {
	if err := p.load(ctx, l, src, true); err != nil {
		return err
	}
	for _, start := range l.fragments {
		if root := p.run(l.grammar().rules[start], false); root >= 0 {
			use(p.tree(l, root))
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// load makes the tokens of a text.
func (p *Parser) load(ctx context.Context, l *Language, src []byte, pattern bool) error {
	if len(src) > MaxBytes {
		return ErrTooLarge
	}
	if bytes.IndexByte(src, 0) >= 0 {
		return ErrBinary
	}
	p.g, p.src, p.err = l.grammar(), src, nil
	p.ctxErr = ctx.Err
	lex := lexer{g: p.g, src: src, tokens: p.tokens[:0], pattern: pattern, jsx: l.jsx}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		lex.pos = 3
	}
	l.lex(&lex)
	p.tokens = lex.tokens
	if cap(p.failed) < len(p.tokens) {
		p.failed = make([]uint64, len(p.tokens))
	}
	return ctx.Err()
}

// run matches a rule against all tokens and returns its node, or -1.
func (p *Parser) run(r *rule, mend bool) int32 {
	p.nodes, p.kids, p.stack = p.nodes[:0], p.kids[:0], p.stack[:0]
	p.failed = p.failed[:len(p.tokens)]
	clear(p.failed)
	p.flags, p.depth, p.lists, p.furthest, p.mend, p.broken = 0, 0, 0, 0, mend, false
	p.steps, p.check, p.limit = 0, checkEvery, freeSteps+stepsPerToken*len(p.tokens)
	end := p.match(r.body, 0) // and not call: in a mending run a file may start with anything
	if end < 0 || end < len(p.tokens) && p.tokens[end].class != classEOF {
		return -1
	}
	if !r.hidden {
		p.wrap(r.kind, 0, 0, end)
	}
	for _, n := range p.stack[min(1, len(p.stack)):] { // behind a fragment, what ends it
		if k := p.g.kinds[p.nodes[n].kind]; k != ";" && k != "," {
			return -1
		}
	}
	if len(p.stack) == 0 {
		return -1
	}
	return p.stack[0]
}

// step counts work and looks at the bounds.
func (p *Parser) step() bool {
	p.steps++
	if p.steps < p.check {
		return p.err == nil
	}
	p.check = p.steps + checkEvery
	if p.err == nil {
		p.err = p.ctxErr()
	}
	if p.err == nil && p.steps > p.limit {
		p.err = ErrBounds
	}
	return p.err == nil
}

// mark is a state to go back to.
type mark struct{ nodes, kids, stack int }

func (p *Parser) mark() mark { return mark{len(p.nodes), len(p.kids), len(p.stack)} }

func (p *Parser) reset(m mark) {
	p.nodes, p.kids, p.stack = p.nodes[:m.nodes], p.kids[:m.kids], p.stack[:m.stack]
}

// call matches a rule at a token and returns the token after it, or -1.
func (p *Parser) call(r *rule, pos int) int {
	e := r.body
	if !e.nullable && !e.first.has(&p.tokens[pos]) {
		p.furthest = max(p.furthest, pos)
		return -1
	}
	bit := uint64(0)
	if r.memo >= 0 {
		bit = 1 << (r.memo*4 + int(p.flags))
		if p.failed[pos]&bit != 0 {
			return -1
		}
	}
	if p.depth++; p.depth > maxDepth && p.err == nil {
		p.err = ErrBounds
	}
	from := len(p.stack)
	end := p.match(e, pos)
	p.depth--
	if end < 0 {
		p.failed[pos] |= bit
		return -1
	}
	if !r.hidden {
		p.wrap(r.kind, from, pos, end)
	}
	return end
}

// wrap makes a node of the top of the stack.
func (p *Parser) wrap(kind uint16, from, pos, end int) {
	for end > pos && p.tokens[end-1].layout() {
		end--
	}
	first := len(p.kids)
	p.kids = append(p.kids, p.stack[from:]...)
	p.stack = append(p.stack[:from], int32(len(p.nodes)))
	p.nodes = append(p.nodes, node{kind: kind, from: int32(pos), to: int32(end), first: int32(first), count: int32(len(p.kids) - first)})
}

// leaf makes a node of tokens.
func (p *Parser) leaf(kind uint16, pos, end int) int {
	p.stack = append(p.stack, int32(len(p.nodes)))
	p.nodes = append(p.nodes, node{kind: kind, from: int32(pos), to: int32(end)})
	return end
}
