package hashedit

import (
	"errors"
	"fmt"
	"strings"

	"magicode/internal/tool"
)

// section is what a patch says about one file.
type section struct {
	path     string // cleaned; relative to cwd if it lies inside
	tag      string // upper-case; "" if none was given
	ops      []op
	warnings []string
	bare     bool // the warning about bare rows was given
}

// final returns the section's MV or REM.
func (s *section) final() *op {
	for i := range s.ops {
		if !s.ops[i].kind.isLine() {
			return &s.ops[i]
		}
	}
	return nil
}

func (s *section) lineOps() (ops []op) {
	for _, o := range s.ops {
		if o.kind.isLine() {
			ops = append(ops, o)
		}
	}
	return ops
}

// patchParser reads a patch line by line.
type patchParser struct {
	env      tool.Env
	sections []*section
	cur      *section
	pending  *op    // takes rows
	blanks   int    // blank lines that count only if a row follows
	bareRows []int  // indexes of pending.body that had no +
	comment  int    // line of a comment that waits for an operation
	number   int    // of the line at hand
	used     []bool // per section: something but blanks stood in it
}

// parse reads a whole patch: tools.md 1.9.2.
func parse(input string, env tool.Env) ([]*section, error) {
	p := &patchParser{env: env}
	input = strings.ReplaceAll(strings.TrimPrefix(input, "\ufeff"), "\r\n", "\n")
	for line := range strings.SplitSeq(input, "\n") {
		p.number++
		word := strings.TrimSpace(line)
		if word == "*** End Patch" || word == "*** ABORT" {
			break
		}
		if err := p.line(line, word); err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w", p.number, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.merge()
}

func (p *patchParser) line(line, word string) error {
	if p.cur == nil {
		if word == "" || word == "*** Begin Patch" {
			return nil
		}
		if strings.HasPrefix(line, "@@") {
			return errUnified
		}
		if line[0] != '[' {
			return errors.New("a patch starts with a header [PATH#TAG]")
		}
	}
	if line != "" && line[0] == '[' {
		return p.header(line)
	}
	if word == "" {
		return p.blank()
	}
	p.used[len(p.used)-1] = true
	if kind, rest, ok := keyword(line); ok {
		return p.operation(kind, rest)
	}
	switch {
	case p.pending == nil && line[0] == '#':
		p.comment = p.number
		return nil
	case p.comment != 0:
		return errComment
	case line[0] == '+':
		return p.row(line[1:], false)
	case p.pending != nil:
		if line[0] == '-' {
			return errors.New("rows that start with - are refused: name the lines to delete in the operation, and put a + before a row that starts with -")
		}
		return p.row(line, true)
	}
	return stray(line, word)
}

var (
	errUnified = errors.New("this is a unified diff; write [PATH#TAG] and operations such as SWAP 3.=5: instead")
	errComment = errors.New("a # line is a comment only directly before an operation; put a + before a row of text")
	bareNumber = onUse(`^[0-9]+([-:.… ][0-9=.:… -]*)?$`)
)

// stray words the error for a line that belongs nowhere.
func stray(line, word string) error {
	switch {
	case strings.HasPrefix(word, "***"):
		return errors.New("apply-patch lines are not understood here: write [PATH#TAG] and operations")
	case strings.HasPrefix(line, "@@"):
		return errUnified
	case bareNumber().MatchString(word):
		return errors.New("a line number needs a verb: SWAP, DEL, INS.PRE or INS.POST")
	}
	return errors.New("not an operation; rows of text stand below SWAP or INS, each after a +")
}

func (p *patchParser) header(line string) error {
	if err := p.close(); err != nil {
		return err
	}
	path, tag, err := parseHeader(line, p.env)
	if err != nil {
		return err
	}
	p.cur = &section{path: path, tag: tag}
	p.sections = append(p.sections, p.cur)
	p.used = append(p.used, false)
	return nil
}

func (p *patchParser) blank() error {
	if p.comment != 0 {
		return errComment
	}
	if p.pending != nil {
		p.blanks++
	}
	return nil
}

func (p *patchParser) operation(kind opKind, rest string) error {
	p.comment = 0
	if err := p.close(); err != nil {
		return err
	}
	o, dot, err := parseOp(kind, rest)
	if err != nil {
		return err
	}
	o.at = p.number
	if dot {
		p.cur.warnings = append(p.cur.warnings, fmt.Sprintf("line %d: a lone dot was skipped", p.number))
	}
	p.cur.ops = append(p.cur.ops, o)
	if kind.takesBody() {
		p.pending = &p.cur.ops[len(p.cur.ops)-1]
	}
	return nil
}

func (p *patchParser) row(text string, bare bool) error {
	if p.pending == nil {
		return errors.New("this row belongs to no operation: rows stand below SWAP or INS")
	}
	for ; p.blanks > 0; p.blanks-- {
		p.pending.body = append(p.pending.body, "")
	}
	if bare {
		p.bareRows = append(p.bareRows, len(p.pending.body))
		if !p.cur.bare {
			p.cur.bare = true
			p.cur.warnings = append(p.cur.warnings, "bare body rows were taken as text; put a + before each row")
		}
	}
	p.pending.body = append(p.pending.body, text)
	return nil
}

// close ends the pending operation.
func (p *patchParser) close() error {
	if p.comment != 0 {
		return errComment
	}
	if p.pending == nil {
		return nil
	}
	stripNumbers(p.pending.body, p.bareRows)
	o := p.pending
	p.pending, p.bareRows, p.blanks = nil, nil, 0
	if o.kind.needsBody() && len(o.body) == 0 {
		return fmt.Errorf("%s (line %d) needs at least one row", o.kind, o.at)
	}
	return nil
}

func (p *patchParser) finish() error {
	if err := p.close(); err != nil {
		return fmt.Errorf("end of the patch: %w", err)
	}
	return nil
}

var (
	numbered = onUse(`^[ \t]*[0-9]+:(.*)$`)
	scalar   = onUse(`^[ \t]*(?:"[^"]*"|'[^']*'|-?[0-9]+(?:\.[0-9]+)?),?[ \t]*$`)
)

// stripNumbers takes N: off bare rows when all have it, as copied from read,
// unless they look like the entries of a map.
func stripNumbers(body []string, bare []int) {
	var rest []string
	scalars := true
	for _, i := range bare {
		m := numbered().FindStringSubmatch(body[i])
		if m == nil {
			return
		}
		rest = append(rest, m[1])
		scalars = scalars && scalar().MatchString(m[1])
	}
	if scalars {
		return
	}
	for k, i := range bare {
		body[i] = rest[k]
	}
}

// merge joins the sections of a path and checks what can be checked without the
// files.
func (p *patchParser) merge() ([]*section, error) {
	var out []*section
	byPath := map[string]*section{}
	for i, s := range p.sections {
		if !p.used[i] {
			continue
		}
		first := byPath[s.path]
		if first == nil {
			byPath[s.path] = s
			out = append(out, s)
			continue
		}
		if first.tag != "" && s.tag != "" && first.tag != s.tag {
			return nil, fmt.Errorf("%s has two different tags: #%s and #%s", s.path, first.tag, s.tag)
		}
		if first.tag == "" {
			first.tag = s.tag
		}
		first.ops = append(first.ops, s.ops...)
		first.warnings = append(first.warnings, s.warnings...)
	}
	if len(out) == 0 {
		return nil, errors.New("the patch holds no section with an operation")
	}
	for _, s := range out {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return out, nil
}

func (s *section) check() error {
	finals := 0
	remove := false
	for _, o := range s.ops {
		if !o.kind.isLine() {
			finals++
			remove = remove || o.kind == opRemove
		}
	}
	if finals > 1 {
		return errors.New("only one MV or REM is allowed")
	}
	if remove && len(s.ops) > 1 {
		return errors.New("REM stands alone")
	}
	return noOverlap(s.ops)
}

// noOverlap refuses a line that two operations delete.
func noOverlap(ops []op) error {
	for i, a := range ops {
		for _, b := range ops[:i] {
			if deletes(a.kind) && deletes(b.kind) && a.first <= b.last && b.first <= a.last {
				return fmt.Errorf("line %d is deleted by two operations", max(a.first, b.first))
			}
		}
	}
	return nil
}

func deletes(k opKind) bool { return k == opSwap || k == opDelete }
