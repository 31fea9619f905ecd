package hashedit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"magicode/internal/tool"
	"magicode/internal/tool/linediff"
)

// Bounds of what failures show: tools.md 1.9.4.
const (
	maxUnseen  = 40
	nearLines  = 2 // rows around each anchor
	hunkMargin = 3 // lines of context of a hunk
)

// tagError is a failure about a tag: metadata names it.
type tagError struct {
	kind     string
	path     string
	expected string
	current  string
	text     string
}

func (e *tagError) Error() string { return e.text }

// source is one file as it is now.
type source struct {
	path string // canonical
	doc  document
	tag  string
}

// outcome of planning: the text that comes out, and how.
type planned struct {
	plan  *plan
	base  document // what the plan was applied to
	after document
	stale bool // the tag was not that of the present text
}

// resolve plans a section's line operations for the present text: tools.md 1.9.4.
func (t *Tool) resolve(ctx context.Context, src source, s *section) (*planned, error) {
	ops := s.lineOps()
	if s.tag == "" {
		return nil, &tagError{kind: "missing_tag", path: src.path, current: src.tag, text: fmt.Sprintf("%s: the header has no tag: read the file first and write [PATH#TAG]", s.path)}
	}
	snap, known := t.snapshots.Find(src.path, s.tag)
	fresh := s.tag == src.tag && (!known || sameShown(newDocument(snap.Text), src.doc))
	endsOnly := len(ops) > 0 && !slices.ContainsFunc(ops, func(o op) bool { return o.kind != opHead && o.kind != opTail })
	switch {
	case fresh && known:
		return t.direct(ctx, src, s, ops)
	case fresh:
		return nil, t.unknown(src, s, ops)
	case endsOnly && s.final() == nil:
		p, err := makePlan(ctx, src.doc, ops, src.path)
		if err != nil {
			return nil, err
		}
		p.warnings = append(p.warnings, fmt.Sprintf("#%s is not the present tag; INS.HEAD and INS.TAIL were applied to the present text", s.tag))
		return &planned{p, src.doc, p.apply(src.doc), true}, nil
	case !known:
		return nil, t.unknown(src, s, ops)
	case len(ops) == 0:
		return nil, t.changed(src, s, ops)
	}
	return t.recover(ctx, src, s, ops, snap)
}

// sameShown compares texts as the tag does: blanks at line ends do not count.
func sameShown(a, b document) bool {
	return slices.EqualFunc(a.lines, b.lines, func(x, y string) bool {
		return strings.TrimRight(x, " \t") == strings.TrimRight(y, " \t")
	})
}

// direct applies a section whose tag is that of the present text.
func (t *Tool) direct(ctx context.Context, src source, s *section, ops []op) (*planned, error) {
	p, err := makePlan(ctx, src.doc, ops, src.path)
	if err != nil {
		return nil, err
	}
	if err := t.seen(src, s, p, src.doc); err != nil {
		return nil, err
	}
	return &planned{p, src.doc, p.apply(src.doc), false}, nil
}

// seen holds the anchors against what read has shown of the tagged text.
func (t *Tool) seen(src source, s *section, p *plan, tagged document) error {
	missing := t.snapshots.Unseen(src.path, s.tag, lines(p.anchors))
	if len(missing) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: these lines were not shown by read under #%s:", s.path, s.tag)
	for i, n := range missing {
		if i == maxUnseen {
			fmt.Fprintf(&b, "\n… and %d more; read them first", len(missing)-i)
			break
		}
		fmt.Fprintf(&b, "\n%d:%s", n, clip(tagged.lines[n-1]))
	}
	if len(missing) <= maxUnseen {
		t.snapshots.Saw(src.path, s.tag, missing)
		b.WriteString("\nNow they were: send the patch again if it is still right.")
	}
	return &tagError{kind: "unseen_lines", path: src.path, expected: s.tag, current: src.tag, text: b.String()}
}

// lines sorts line numbers and drops repetitions.
func lines(ns []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(ns)))
}

// recover carries a section over from a snapshot to the present text: by place,
// by a common shift, or line for line. Nothing is guessed: each way demands
// that the lines it relies on are the same.
func (t *Tool) recover(ctx context.Context, src source, s *section, ops []op, snap tool.Snapshot) (*planned, error) {
	old := newDocument(snap.Text)
	p, err := makePlan(ctx, old, ops, src.path)
	if err != nil {
		return nil, err
	}
	if err := t.seen(src, s, p, old); err != nil {
		return nil, err
	}
	warn := func(p *plan, how string) *planned {
		p.warnings = append(p.warnings, fmt.Sprintf("the file changed since #%s was read; %s", s.tag, how))
		return &planned{p, src.doc, p.apply(src.doc), true}
	}
	if p.inPlace(old, src.doc) {
		return warn(p, "the lines around each change are as they were, so the patch was applied at the same place"), nil
	}
	if moved, shift := p.shifted(ops, old, src.doc); shift != 0 {
		if q, err := makePlan(ctx, src.doc, moved, src.path); err == nil {
			return warn(q, fmt.Sprintf("the named lines had all moved by %+d, and the patch with them", shift)), nil
		}
	}
	if !snap.Newest && p.sameLines(old, src.doc) {
		if q, err := makePlan(ctx, src.doc, ops, src.path); err == nil {
			return warn(q, "it has as many lines, and the named ones are the same, so the patch was applied as it is"), nil
		}
	}
	return nil, t.changed(src, s, ops)
}

// touched are the original lines that a plan changes or inserts at.
func (p *plan) touched() []int {
	var out []int
	for _, m := range []map[int][]string{p.before, p.instead, p.after} {
		for n := range m {
			out = append(out, n)
		}
	}
	for n := range p.deleted {
		out = append(out, n)
	}
	return lines(out)
}

// inPlace reports whether every hunk, three lines of context around it, stands
// unchanged at its place in now.
func (p *plan) inPlace(old, now document) bool {
	touched := p.touched()
	if len(touched) == 0 {
		return false
	}
	for _, n := range touched {
		for i := max(1, n-hunkMargin); i <= n+hunkMargin; i++ {
			inOld, inNow := i <= len(old.lines), i <= len(now.lines)
			if inOld != inNow || inOld && old.lines[i-1] != now.lines[i-1] {
				return false
			}
		}
	}
	return true
}

// shifted moves the operations by the one shift that all their lines have made;
// 0 if there is none.
func (p *plan) shifted(ops []op, old, now document) (moved []op, shift int) {
	went := linediff.Unchanged(old.lines, now.lines)
	for _, n := range p.anchors {
		to, ok := went[n]
		if !ok || to == n || shift != 0 && to-n != shift {
			return nil, 0
		}
		shift = to - n
	}
	for _, o := range ops {
		if o.first > 0 {
			o.first, o.last = o.first+shift, o.last+shift
		}
		moved = append(moved, o)
	}
	return moved, shift
}

func (p *plan) sameLines(old, now document) bool {
	if len(old.lines) != len(now.lines) {
		return false
	}
	for _, n := range p.anchors {
		if old.lines[n-1] != now.lines[n-1] {
			return false
		}
	}
	return true
}

func (t *Tool) unknown(src source, s *section, ops []op) error {
	return &tagError{
		kind: "unknown_tag", path: src.path, expected: s.tag, current: src.tag,
		text: fmt.Sprintf("%s: #%s was not shown in this session; read the file first. Now it is #%s%s", s.path, s.tag, src.tag, near(src.doc, ops)),
	}
}

func (t *Tool) changed(src source, s *section, ops []op) error {
	return &tagError{
		kind: "changed", path: src.path, expected: s.tag, current: src.tag,
		text: fmt.Sprintf("%s: the file changed since #%s was read; read it again. Now it is #%s%s", s.path, s.tag, src.tag, near(src.doc, ops)),
	}
}

// near shows the present rows around each anchor.
func near(d document, ops []op) string {
	var want []int
	for _, o := range ops {
		for n := max(1, o.first-nearLines); o.first > 0 && n <= min(o.last+nearLines, o.first+maxUnseen, d.shown()); n++ {
			want = append(want, n)
		}
	}
	var b strings.Builder
	for i, n := range lines(want) {
		if i == maxUnseen {
			b.WriteString("\n…")
			break
		}
		b.WriteString("\n" + strconv.Itoa(n) + ":" + clip(d.lines[n-1]))
	}
	if b.Len() == 0 {
		return "."
	}
	return ":" + b.String()
}

// clip bounds one line of a message.
func clip(s string) string {
	const limit = 400
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
