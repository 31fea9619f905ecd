package grep

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of patterns: tools.md 1.11.
const (
	maxPatterns     = 8
	maxPatternChars = 512
	maxPatternBytes = 1024
	maxAllBytes     = 4096
)

func checkPatterns(ps []string) error {
	if len(ps) == 0 || len(ps) > maxPatterns {
		return fmt.Errorf(`invalid arguments: "patterns" must hold 1 to %d entries`, maxPatterns)
	}
	sum := 0
	for _, p := range ps {
		sum += len(p)
		switch {
		case strings.TrimSpace(p) == "":
			return errors.New("invalid arguments: a pattern is blank")
		case utf8.RuneCountInString(p) > maxPatternChars || len(p) > maxPatternBytes:
			return fmt.Errorf("invalid arguments: a pattern is longer than %d characters or %d bytes", maxPatternChars, maxPatternBytes)
		case strings.IndexFunc(p, unicode.IsControl) >= 0:
			return errors.New("invalid arguments: a pattern holds a control character")
		}
	}
	if sum > maxAllBytes {
		return fmt.Errorf("invalid arguments: the patterns are longer than %d bytes together", maxAllBytes)
	}
	return nil
}

// expression is what a call searches for: any of its patterns.
type expression struct {
	source   string         // one expression for all
	re       *regexp.Regexp // the same, compiled
	adjusted int            // patterns that were changed to compile
	literal  int            // patterns taken literally
}

// compile joins the patterns, repairing what models often write.
func compile(patterns []string) (*expression, error) {
	e := &expression{}
	parts := make([]string, len(patterns))
	for i, p := range patterns {
		parts[i] = e.repair(p)
	}
	e.source = parts[0]
	if len(parts) > 1 {
		e.source = "(?:" + strings.Join(parts, ")|(?:") + ")"
	}
	var err error
	if e.re, err = regexp.Compile(e.source); err != nil {
		return nil, errors.New("the patterns are too large together")
	}
	return e, nil
}

// repair returns an expression that compiles: with stray braces escaped, then
// with parentheses escaped, at last the pattern as plain text.
func (e *expression) repair(p string) string {
	fixed := escapeBraces(p)
	if _, err := regexp.Compile(fixed); err == nil {
		if fixed != p {
			e.adjusted++
		}
		return fixed
	}
	e.adjusted++
	fixed = escapeParens(fixed)
	if _, err := regexp.Compile(fixed); err == nil {
		return fixed
	}
	e.literal++
	return regexp.QuoteMeta(p)
}

// escapeBraces escapes braces that belong neither to a quantifier nor to \x{},
// \p{} or \P{}.
func escapeBraces(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); {
		n := 1
		switch c := p[i]; c {
		case '\\':
			n = escapeLen(p[i:])
		case '{':
			if q := quantifierLen(p[i:]); q > 0 {
				n = q
			} else {
				b.WriteByte('\\')
			}
		case '}':
			b.WriteByte('\\')
		}
		b.WriteString(p[i : i+n])
		i += n
	}
	return b.String()
}

// escapeLen is the length of an escape at the start of p.
func escapeLen(p string) int {
	if len(p) > 2 && p[2] == '{' && (p[1] == 'x' || p[1] == 'p' || p[1] == 'P') {
		if i := strings.IndexByte(p, '}'); i > 0 {
			return i + 1
		}
	}
	if len(p) == 1 {
		return 1
	}
	_, n := utf8.DecodeRuneInString(p[1:])
	return 1 + n
}

// quantifierLen is the length of {N}, {N,} or {N,M} at the start of p, or 0.
func quantifierLen(p string) int {
	end := strings.IndexByte(p, '}')
	if end < 2 {
		return 0
	}
	low, high, _ := strings.Cut(p[1:end], ",")
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	if low == "" || strings.TrimFunc(low, isDigit) != "" || strings.TrimFunc(high, isDigit) != "" {
		return 0
	}
	return end + 1
}

// escapeParens escapes parentheses outside of brackets.
func escapeParens(p string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(p); {
		n := 1
		switch c := p[i]; {
		case c == '\\':
			n = escapeLen(p[i:])
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case (c == '(' || c == ')') && !inClass:
			b.WriteByte('\\')
		}
		b.WriteString(p[i : i+n])
		i += n
	}
	return b.String()
}
