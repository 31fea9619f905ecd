package read

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// lineKind is the kind of a line selector, as metadata spells it.
type lineKind string

const (
	all       lineKind = ""
	single    lineKind = "single"     // N
	between   lineKind = "range"      // N-M
	fromStart lineKind = "from_start" // -M
	fromLine  lineKind = "from_line"  // N+
	counted   lineKind = "count"      // N+K
)

// selector says which part of a resource is wanted.
type selector struct {
	raw  bool
	kind lineKind
	a, b int
}

var errTwoSelectors = errors.New("only one line selector is allowed")

// splitSelectors takes suffixes off a path, from the right. It stops at the
// first one that is no selector, and before one without which exists is true:
// names may hold colons. An error is a selector with bad numbers.
func splitSelectors(s string, exists func(path string) bool) (path string, sel selector, err error) {
	for {
		i := strings.LastIndexByte(s, ':')
		if i <= 0 || exists(s) {
			return s, sel, nil
		}
		suffix := s[i+1:]
		if suffix == "raw" {
			sel.raw, s = true, s[:i]
			continue
		}
		kind, a, b, ok, err := parseLines(suffix)
		switch {
		case !ok:
			return s, sel, nil
		case err != nil:
			return s, sel, err
		case sel.kind != all:
			return s, sel, errTwoSelectors
		}
		sel.kind, sel.a, sel.b, s = kind, a, b, s[:i]
	}
}

// parseLines reads one line selector. ok is false for text that has no such form.
func parseLines(s string) (kind lineKind, a, b int, ok bool, err error) {
	i := strings.IndexAny(s, "-+")
	left, right := s, ""
	if i >= 0 {
		left, right = s[:i], s[i+1:]
	}
	if !digits(left) || !digits(right) || left == "" && right == "" {
		return all, 0, 0, false, nil
	}
	a, aerr := number(left)
	b, berr := number(right)
	switch {
	case i < 0:
		kind, err = single, aerr
	case s[i] == '+' && left == "", s[i] == '-' && right == "":
		return all, 0, 0, false, nil
	case s[i] == '+' && right == "":
		kind, err = fromLine, aerr
	case s[i] == '+':
		kind, err = counted, errors.Join(aerr, berr)
	case left == "":
		kind, err = fromStart, berr
	default:
		kind, err = between, errors.Join(aerr, berr)
		if err == nil && b < a {
			err = fmt.Errorf("line selector %q ends before it starts", s)
		}
	}
	if err != nil {
		err = fmt.Errorf("line selector %q: %v", s, firstLine(err))
	}
	return kind, a, b, true, err
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// number reads a positive number; "" is 0, which only the form decides about.
func number(s string) (int, error) {
	if s == "" {
		return 0, errors.New("a number is missing")
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > 1<<30 {
		return 0, errors.New("number too large")
	}
	if n == 0 {
		return 0, errors.New("lines are counted from 1")
	}
	return n, nil
}

// span gives the first and last wanted line of a text of total lines, before
// the default bound. A start beyond the end is an error.
func (s selector) span(total int) (first, last int, err error) {
	first, last = 1, total
	switch s.kind {
	case single:
		first, last = s.a, s.a
	case between:
		first, last = s.a, s.b
	case fromStart:
		last = s.b
	case fromLine:
		first = s.a
	case counted:
		first, last = s.a, s.a+s.b-1
	}
	if first > total && s.kind != all && s.kind != fromStart {
		return 0, 0, fmt.Errorf("line %d is beyond the end: there are %d lines", first, total)
	}
	return first, min(last, total), nil
}

// metadata is null without any selector.
func (s selector) metadata() any {
	if !s.raw && s.kind == all {
		return nil
	}
	m := map[string]any{"raw": s.raw, "lines": nil}
	lines := map[string]any{"type": string(s.kind)}
	switch s.kind {
	case all:
		return m
	case single:
		lines["line"] = s.a
	case between:
		lines["start"], lines["end"] = s.a, s.b
	case fromStart:
		lines["end"] = s.b
	case fromLine:
		lines["start"] = s.a
	case counted:
		lines["start"], lines["count"] = s.a, s.b
	}
	m["lines"] = lines
	return m
}
