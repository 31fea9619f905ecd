package hashedit

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

var (
	errNoBlock     = errors.New("no block of several lines starts there")
	errUnsupported = errors.New("block operations are not supported for this kind of file; use line numbers")
	errSyntax      = errors.New("the file has syntax errors; use line numbers")
	errUnparsed    = errors.New("the file is nested too deeply or takes too long to be parsed; use line numbers")
)

// resolveBlocks replaces block operations by operations on lines.
func (p *plan) resolveBlocks(ctx context.Context, d document, ops []op, name string) ([]op, error) {
	out, blocks := make([]op, 0, len(ops)), blocks{doc: d, name: name}
	for _, o := range ops {
		if !o.kind.isBlock() {
			out = append(out, o)
			continue
		}
		if o.first > len(d.lines) {
			return nil, fmt.Errorf("line %d does not exist: there are %d lines", o.first, d.shown())
		}
		first, last, err := blocks.find(ctx, o.first)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && o.kind == opAfterBlock {
			p.warnings = append(p.warnings, fmt.Sprintf("INS.BLK.POST %d: %v; the rows were put after line %d", o.first, err, o.first))
			o.kind = opAfter
			out = append(out, o)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", o.kind, o.first, err)
		}
		out = append(out, p.resolved(d, o, first, last))
	}
	return out, nil
}

func (p *plan) resolved(d document, o op, first, last int) op {
	verb := map[opKind]string{opSwapBlock: "Replace", opDeleteBlock: "Delete", opAfterBlock: "Insert after"}[o.kind]
	p.resolutions = append(p.resolutions, fmt.Sprintf("%s anchor %d -> %d..%d", verb, o.first, first, last))
	switch o.kind {
	case opSwapBlock:
		o.kind, o.first, o.last = opSwap, first, last
	case opDeleteBlock:
		o.kind, o.first, o.last = opDelete, first, last
	case opAfterBlock:
		if depth := commonIndent(o.body); closerOnly(d.lines[last-1]) && depth > indent(d.lines[last-1]) {
			p.warnings = append(p.warnings, fmt.Sprintf("INS.BLK.POST %d: the rows are deeper than the closing line %d and were put inside the block", o.first, last))
			o.kind = opBefore
		} else {
			o.kind = opAfter
		}
		p.anchors = append(p.anchors, o.first)
		o.first, o.last, o.derived = last, last, true
	}
	return o
}

// find returns the lines of the smallest syntactic unit that starts on line n
// and spans several. A decorator counts to what it decorates.
func (b *blocks) find(ctx context.Context, n int) (first, last int, err error) {
	if strings.TrimSpace(b.doc.lines[n-1]) == "" {
		return 0, 0, errNoBlock
	}
	start := n
	for start < len(b.doc.lines) && decorator(b.doc.lines[start-1]) {
		start++
	}
	last, err = b.end(ctx, start)
	if err != nil {
		return 0, 0, err
	}
	return n, last, nil
}

func decorator(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}
