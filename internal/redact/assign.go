package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atSeparator looks at the ':' or '=' at i and returns the place to go on from.
func (c *scan) atSeparator(i int) int {
	if end := c.dataURL(i); end != none {
		return end
	}
	if kind := c.keyBefore(i); kind != noKey {
		return c.assignment(i, kind)
	}
	return i + 1
}

// assignment hides the value behind the separator at i.
func (c *scan) assignment(i int, kind keyKind) int {
	s := c.s
	v := skipBlanks(s, i+1)
	if op := runOf(s, v, "=>"); op > v && (op == len(s) || blank(s, op) > 0) {
		v = skipBlanks(s, op) // := and == and => and their like
	}
	if v == len(s) {
		return c.end(v)
	}
	if strings.HasPrefix(s[v:], mark) {
		return c.markedValue(v)
	}
	if len(s)-v < len(mark) && strings.HasPrefix(mark, s[v:]) && !c.final {
		return more
	}
	end := c.value(v)
	if end < 0 {
		return end
	}
	if end == v || !c.worthHiding(kind, s[v:end]) {
		return i + 1
	}
	return c.hideValue(v, end)
}

// hideValue hides s[v:end] and what of a longer construct hangs on it.
func (c *scan) hideValue(v, end int) int {
	s := c.s
	next := end
	if strings.HasSuffix(s[v:end], "-----BEGIN") {
		if label := c.privateKeyIn(end); label == more {
			return more
		} else if label >= 0 {
			c.hide(v, label)
			return c.openPEM(label)
		}
	}
	bearerEnds := end-v >= 6 && strings.EqualFold(s[end-6:end], "bearer") && (end-6 == v || c.boundary(end-6))
	data := dataHead(s[v:end]) && strings.HasPrefix(s[end:], ";base64,")
	if !c.final && (bearerEnds && skipBlanks(s, end) == len(s) || dataHead(s[v:end]) && strings.HasPrefix(";base64,", s[end:])) {
		return more
	}
	if bearerEnds {
		from := skipBlanks(s, end)
		stop := runEnd(s, from, bearerSet)
		if stop == len(s) && !c.final {
			return more
		}
		if from > end && stop-from >= 8 {
			c.hide(v, end)
			c.hide(from, stop)
			return stop
		}
	}
	if data {
		from := end + len(";base64,")
		stop := runEnd(s, from, dataSet)
		if stop == len(s) && !c.final {
			return more
		}
		if stop > from {
			c.hide(v, end)
			c.hide(from, stop)
			return stop
		}
	}
	c.hide(v, end)
	return next
}

// markedValue passes over a value that is hidden already. What follows the mark
// belongs to it when it goes on as a word would.
func (c *scan) markedValue(v int) int {
	end := v + len(mark)
	if end == len(c.s) {
		return c.end(end)
	}
	if !wordAfter(c.s, end) {
		return end
	}
	run := c.valueRun(end)
	if run < 0 {
		return run
	}
	c.hide(v, run)
	return run
}

// value returns the end of the value at v.
func (c *scan) value(v int) int {
	quote := v
	for quote < len(c.s) && c.s[quote] == '\\' {
		quote++
	}
	if quote == len(c.s) && !c.final {
		return more
	}
	if quote < len(c.s) && (c.s[quote] == '"' || c.s[quote] == '\'') {
		end := c.closeQuote(v, quote)
		if end == more {
			return more
		}
		if end >= 0 {
			if end == len(c.s) && !c.final {
				return more
			}
			if wordAfter(c.s, end) {
				return c.valueRun(end)
			}
			return end
		}
	}
	return c.valueRun(v)
}

// valueRun returns the end of the run of characters that an unquoted value has.
func (c *scan) valueRun(v int) int {
	for i := v; i < len(c.s); {
		b := c.s[i]
		if b == ',' || b == ';' || b == '}' || b == ' ' || b >= '\t' && b <= '\r' {
			return i
		}
		if b < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(c.s[i:])
		if unicode.IsSpace(r) {
			return i
		}
		i += n
	}
	return c.end(len(c.s))
}

// closeQuote returns the end of the value that opens with the quote at i, whose
// backslashes start at v. It may go on over line ends, not over a blank line or
// a code fence (decision 46).
func (c *scan) closeQuote(v, i int) int {
	s, q, escapes := c.s, c.s[i], i-v
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			n := runOf(s, i, "\\") - i
			i += n
			if i == len(s) {
				return c.end(none)
			}
			switch {
			case s[i] == q && n == escapes:
				return i + 1
			case n%2 == 0 || escapes > 0:
				i--
			}
		case q:
			if escapes > 0 {
				return i
			}
			return i + 1
		case '\n':
			if stop := c.stopsQuote(i + 1); stop != none {
				if stop == more {
					return more
				}
				return none
			}
		}
	}
	return c.end(none)
}

// stopsQuote says whether the line at i is blank or a code fence: not none.
func (c *scan) stopsQuote(i int) int {
	s := c.s
	i = runOf(s, i, " \t\r")
	rest := s[i:]
	switch {
	case rest == "":
		return c.end(i)
	case rest[0] == '\n' || strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"):
		return i
	case len(rest) < 3 && (strings.HasPrefix("```", rest) || strings.HasPrefix("~~~", rest)):
		return c.end(none)
	}
	return none
}

// runOf returns the end of the run of bytes of set that starts at i.
func runOf(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// worthHiding reports whether the text behind a name is a value at all.
func (c *scan) worthHiding(_ keyKind, v string) bool {
	if len(v) >= 8 {
		return true
	}
	for _, r := range v {
		if isWord(r) {
			return true
		}
	}
	return false
}
