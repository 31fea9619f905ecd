package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atSeparator looks at the ':' or '=' at i and returns the place to go on from.
func (c *scan) atSeparator(i int) int {
	if c.s[i] == ':' {
		if end := c.atColon(i); end != none {
			return end
		}
	}
	if kind := c.keyBefore(i); kind != noKey {
		if end := c.assignment(i, kind); end != none {
			return end
		}
	}
	return i + 1
}

// atColon looks for what only a ':' can be part of.
func (c *scan) atColon(i int) int {
	if end := c.dataURL(i); end != none {
		return end
	}
	kind := c.keyBefore(i)
	if kind == exactKey || kind == authKey {
		return none // rule 7 takes more than the password of a URL
	}
	return c.urlPassword(i)
}

// assignment hides the value behind the separator at i.
func (c *scan) assignment(i int, kind keyKind) int {
	s := c.s
	if i+1 == len(s) {
		return c.end(none)
	}
	if c.isPath(i) {
		return i + 2
	}
	v := skipBlanks(s, i+1)
	if op := runOf(s, v, "=>"); op > v && (op == len(s) || blank(s, op) > 0) {
		v = skipBlanks(s, op) // := and == and => and their like
		kind = comparedKey
	}
	if v == len(s) {
		return c.end(none)
	}
	switch hidden := c.literal(v, mark); {
	case hidden >= 0:
		return c.markedValue(kind, v, hidden)
	case hidden == more:
		return more
	}
	return c.assigned(kind, v)
}

// maxJudged bounds in bytes how much of a value is looked at to find out
// whether it is worth hiding, so that time stays linear.
const maxJudged = 512

// assigned hides the value at v if it is worth hiding.
func (c *scan) assigned(kind keyKind, v int) int {
	end := c.value(v, maxJudged)
	if end < 0 {
		return end
	}
	long := end-v >= maxJudged
	if end == v || (!long || kind == weakKey) && !worthHiding(kind, c.s[v:end]) {
		return none
	}
	if long {
		if end = c.value(v, len(c.s)); end < 0 {
			return end
		}
	}
	return c.hideValue(kind, v, end)
}

// isPath reports whether the ':' at i begins the "::" of a path such as
// Token::new, where no value is assigned.
func (c *scan) isPath(i int) bool {
	s := c.s
	return s[i] == ':' && s[i+1] == ':' && (i == c.floor || s[i-1] != ' ')
}

// markedValue passes over the value s[v:end] that is hidden already. What
// follows the mark belongs to it when it goes on as a word would, unless the
// name stands before other things too.
func (c *scan) markedValue(kind keyKind, v, end int) int {
	if end == len(c.s) {
		return c.end(end)
	}
	if kind == weakKey || kind == comparedKey || !wordAfter(c.s, end) {
		return end
	}
	run := c.valueRun(end, len(c.s))
	if run < 0 {
		return run
	}
	c.hide(v, run)
	return run
}

// value returns the end of the value at v, or a place behind limit bytes of an
// unquoted one.
func (c *scan) value(v, limit int) int {
	quote := runOf(c.s, v, "\\")
	if quote == len(c.s) && !c.final {
		return more
	}
	if quote < len(c.s) && c.opensQuote(v, quote) {
		end := c.closeQuote(v, quote)
		if end == more || end == len(c.s) && !c.final {
			return more
		}
		if end >= 0 {
			if wordAfter(c.s, end) {
				return c.valueRun(end, limit)
			}
			return end
		}
	}
	return c.valueRun(v, limit)
}

// opensQuote reports whether a quoted value opens at i, with its backslashes
// from v on. A backquote behind a separator alone more often ends a piece of
// code in prose.
func (c *scan) opensQuote(v, i int) bool {
	switch c.s[i] {
	case '"', '\'':
		return true
	case '`':
		return i == v && (c.s[v-1] == ' ' || c.s[v-1] == '\t')
	}
	return false
}

// endsValue reports whether the character at i ends an unquoted value, and its width.
func endsValue(s string, i int) (bool, int) {
	b := s[i]
	if b < utf8.RuneSelf {
		return b == ',' || b == ';' || b == '}' || b == ' ' || b >= '\t' && b <= '\r', 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r), n
}

// valueRun returns the end of the run of characters that an unquoted value
// has, or a place behind limit bytes of it.
func (c *scan) valueRun(v, limit int) int {
	i := v
	for i < len(c.s) && i-v < limit {
		stop, n := endsValue(c.s, i)
		if stop {
			return i
		}
		i += n
	}
	if i == len(c.s) {
		return c.end(i)
	}
	return i
}

// skipTail swallows what is left of an unquoted value from i on.
func (c *scan) skipTail(i int) int {
	for i < len(c.s) {
		stop, n := endsValue(c.s, i)
		if stop {
			c.inside = plainText
			break
		}
		i += n
	}
	c.copied, c.floor = i, i
	return i
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
			if i += n; i == len(s) {
				return c.end(none)
			}
			if s[i] == q && n == escapes {
				return i + 1
			}
			if n%2 == 0 || s[i] == '\n' || escapes > 0 {
				i--
			}
		case q:
			if escapes > 0 {
				return i
			}
			return i + 1
		case '\n':
			if q == '`' {
				return none
			}
			if stop := c.stopsQuote(i + 1); stop == more {
				return more
			} else if stop != none {
				return none
			}
		}
	}
	return c.end(none)
}

// stopsQuote says whether the line at i is blank or a code fence: not none.
func (c *scan) stopsQuote(i int) int {
	i = runOf(c.s, i, " \t\r>")
	if i == len(c.s) {
		return c.end(i)
	}
	if c.s[i] == '\n' {
		return i
	}
	return c.fence(i)
}

// fence returns the end of the marks of the code fence at i.
func (c *scan) fence(i int) int {
	rest := c.s[i:]
	for _, f := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(rest, f) {
			return i + len(f)
		}
		if len(rest) < len(f) && strings.HasPrefix(f, rest) {
			return c.end(none)
		}
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
