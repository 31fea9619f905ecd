package hashedit

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// document is a normalised text as lines. A text that ends in LF, or is empty,
// has an empty phantom line at the end.
type document struct{ lines []string }

func newDocument(text string) document { return document{strings.Split(text, "\n")} }

func (d document) text() string { return strings.Join(d.lines, "\n") }

// shown is the number of lines without the phantom.
func (d document) shown() int {
	if d.lines[len(d.lines)-1] == "" {
		return len(d.lines) - 1
	}
	return len(d.lines)
}

// isPhantom reports whether line n (1-based) is the phantom.
func (d document) isPhantom(n int) bool { return n == len(d.lines) && d.lines[n-1] == "" }

// plan is what the operations of a section come to on one text. Rows around
// original line n stand in the order: before[n], instead[n], the line unless it
// is deleted, after[n].
type plan struct {
	before, instead, after map[int][]string
	deleted                map[int]bool
	swaps                  []op // the ranges that are replaced or deleted, with their final rows
	head, tail             []string

	anchors     []int // lines that must have been seen and be unchanged
	warnings    []string
	resolutions []string
}

// makePlan resolves operations on d. name is the file's, for block operations.
func makePlan(ctx context.Context, d document, ops []op, name string) (*plan, error) {
	p := &plan{before: map[int][]string{}, instead: map[int][]string{}, after: map[int][]string{}, deleted: map[int]bool{}}
	ops, err := p.resolveBlocks(ctx, d, ops, name)
	if err != nil {
		return nil, err
	}
	if err := noOverlap(ops); err != nil {
		return nil, err
	}
	for _, o := range ops {
		if o.last > len(d.lines) {
			return nil, fmt.Errorf("line %d does not exist: there are %d lines", o.last, d.shown())
		}
	}
	targets := targeted(ops)
	for _, o := range ops {
		p.anchor(d, o)
		p.add(d, o, targets)
	}
	return p, nil
}

func (p *plan) add(d document, o op, targets map[int]bool) {
	switch o.kind {
	case opHead:
		p.head = append(p.head, o.body...)
	case opTail:
		p.tail = append(p.tail, o.body...)
	case opBefore:
		p.before[o.first] = append(p.before[o.first], o.body...)
	case opAfter:
		n := p.landing(d, o, targets)
		p.after[n] = append(p.after[n], o.body...)
	case opSwap, opDelete:
		o.body = p.mendSwap(d, o)
		p.swaps = append(p.swaps, o)
		p.instead[o.first] = o.body
		for n := o.first; n <= o.last; n++ {
			if !d.isPhantom(n) { // deleting the phantom is ignored
				p.deleted[n] = true
			}
		}
	}
}

// targeted are the lines that operations name.
func targeted(ops []op) map[int]bool {
	lines := map[int]bool{}
	for _, o := range ops {
		for n := o.first; n <= o.last && n > 0; n++ {
			lines[n] = true
		}
	}
	return lines
}

// anchor notes the lines that the operation relies on.
func (p *plan) anchor(d document, o op) {
	for n := o.first; n <= o.last && n > 0; n++ {
		if !d.isPhantom(n) && !o.derived {
			p.anchors = append(p.anchors, n)
		}
	}
}

// apply makes the new text.
func (p *plan) apply(d document) document {
	out := make([]string, 0, len(d.lines)+8)
	for i, line := range d.lines {
		n := i + 1
		out = append(out, p.before[n]...)
		out = append(out, p.instead[n]...)
		if !p.deleted[n] {
			out = append(out, line)
		}
		out = append(out, p.after[n]...)
	}
	return p.ends(document{out}, len(d.lines) == 1 && d.lines[0] == "")
}

// ends adds the rows of INS.HEAD and INS.TAIL. The phantom stays last, but for
// a file that was empty: its one line is replaced.
func (p *plan) ends(d document, empty bool) document {
	if len(p.head)+len(p.tail) == 0 {
		return d
	}
	n := len(d.lines)
	if n > 0 && d.lines[n-1] == "" && (len(p.tail) > 0 || empty) {
		n--
	}
	rows := append(slices.Clone(p.head), d.lines[:n]...)
	rows = append(rows, p.tail...)
	if !empty {
		rows = append(rows, d.lines[n:]...)
	}
	return document{rows}
}

// counts are the lines that a plan adds and removes, leaving out rows that only
// repeat what they replace.
func (p *plan) counts(d document) (added, removed int) {
	added = len(p.head) + len(p.tail)
	for _, m := range []map[int][]string{p.before, p.after} {
		for _, rows := range m {
			added += len(rows)
		}
	}
	for _, o := range p.swaps {
		old, rows := d.lines[o.first-1:min(o.last, d.shown())], o.body
		for len(old) > 0 && len(rows) > 0 && old[0] == rows[0] {
			old, rows = old[1:], rows[1:]
		}
		for len(old) > 0 && len(rows) > 0 && old[len(old)-1] == rows[len(rows)-1] {
			old, rows = old[:len(old)-1], rows[:len(rows)-1]
		}
		added, removed = added+len(rows), removed+len(old)
	}
	return added, removed
}

// firstChanged is the first line that differs, 0 if none does.
func firstChanged(before, after document) int {
	for i := range after.lines {
		if i >= len(before.lines) || before.lines[i] != after.lines[i] {
			return i + 1
		}
	}
	if len(before.lines) > len(after.lines) {
		return len(after.lines)
	}
	return 0
}
