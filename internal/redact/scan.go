package redact

import (
	"strings"
	"unicode/utf8"
)

// What a matcher can say besides the end of a match.
const (
	none = -1       // no match, whatever follows
	more = -1 << 62 // the text ends where the decision would fall
)

// scan walks over a text once. Bytes before copied are in out; bytes between
// copied and the current place stay as they are.
type scan struct {
	s      string
	out    []byte
	copied int
	floor  int  // end of the last replacement: looking back stops here
	final  bool // the text ends where s ends; otherwise more may come, and s ends with a whole character
	loose  bool // a private key block went on behind a code fence
	inside state
}

// state is what a scan stands in. Its mark is in out already.
type state uint8

const (
	plainText  state = iota
	privateKey       // a private key block
	keyValue         // a private key block that is part of a value
	valueTail        // the rest of an unquoted value
)

// end is what a matcher says that has read to the end of the text: a finished
// text decides for v, a stream waits.
func (c *scan) end(v int) int {
	if c.final {
		return v
	}
	return more
}

// hide replaces s[from:to].
func (c *scan) hide(from, to int) {
	c.out = append(append(c.out, c.s[c.copied:from]...), mark...)
	c.copied, c.floor = to, to
}

// run scans from i on and returns the place up to which all is decided: the end
// of s when the text is final.
func (c *scan) run(i int) int {
	for {
		switch c.inside {
		case privateKey, keyValue:
			i = c.skipPEM(i)
		case valueTail:
			i = c.skipTail(i)
		}
		if c.inside != plainText {
			return i
		}
		if i = c.plain(i); i < 0 {
			return ^i
		}
		if c.inside == plainText && i == len(c.s) {
			return c.tail()
		}
	}
}

// plain scans ordinary text from i on. It stops at the end of s, or where a
// block begins that another state goes on with, or returns ^p to wait with all
// from p on.
func (c *scan) plain(i int) int {
	s := c.s
	table := &kinds
	if c.loose {
		table = &looseKinds
	}
	for i < len(s) {
		var next int
		switch table[s[i]] {
		case other:
			i++
			continue
		case separator:
			next = c.atSeparator(i)
		case letter:
			next = c.atWord(i)
		case lineEnd:
			next = c.atLine(i + 1)
		}
		if next < 0 {
			if next == more {
				next = ^i
			}
			return next
		}
		if i = next; c.inside != plainText || c.loose && table != &looseKinds {
			return i
		}
	}
	return i
}

// tail holds back dashes that may become the head of a private key block.
func (c *scan) tail() int {
	n := len(c.s)
	if c.final {
		return n
	}
	for k := 0; k < len(pemDashes) && n > c.floor && c.s[n-1] == '-'; k++ {
		n--
	}
	return n
}

// Kinds of bytes for the main loop.
const (
	other = iota
	separator
	letter
	lineEnd // only where a private key may go on
)

var kinds, looseKinds = makeKinds()

func makeKinds() (t, loose [256]uint8) {
	for b := range t {
		if classes[b]&word != 0 {
			t[b] = letter
		}
	}
	t[':'], t['='] = separator, separator
	loose = t
	loose['\n'] = lineEnd
	return t, loose
}

// atWord looks at the word that starts at i. It returns the place to go on
// from, or ^p to wait with all from p on.
func (c *scan) atWord(i int) int {
	end := c.keyAt(i)
	if end == none && c.escape(i) && i+1 < len(c.s) && kinds[c.s[i+1]] == letter {
		i++
		end = c.keyAt(i)
	}
	switch {
	case end >= 0:
		return end
	case end == more:
		return ^c.wait(i)
	}
	for i++; i < len(c.s) && kinds[c.s[i]] == letter; {
		i++
	}
	return i
}

// keyAt hides the key that starts with the word at i.
func (c *scan) keyAt(i int) int {
	if s := c.s[i:]; len(s) < headBytes {
		if !c.final && c.boundary(i) && partialHead(s) {
			return more
		}
	} else if isHead(s) && c.boundary(i) {
		return c.token(i)
	}
	return none
}

// escape reports whether the byte at i is the letter of an escaped line end or tab.
func (c *scan) escape(i int) bool {
	b := c.s[i]
	return (b == 'n' || b == 'r' || b == 't') && i > c.floor && c.s[i-1] == '\\'
}

// wait returns where to wait when the word at i is not decided: before the
// dashes that could belong to it.
func (c *scan) wait(i int) int {
	for k := 0; k < len(pemDashes) && i > c.floor && c.s[i-1] == '-'; k++ {
		i--
	}
	return i
}

// boundary reports whether no word character stands before i. The letter of an
// escaped line end or tab is none: text in JSON or source code goes on there.
func (c *scan) boundary(i int) bool {
	if i <= c.floor {
		return true
	}
	if b := c.s[i-1]; b < utf8.RuneSelf {
		return classes[b]&word == 0 || c.escape(i-1)
	}
	r, _ := utf8.DecodeLastRuneInString(c.s[c.floor:i])
	return !isWord(r)
}

// token hides the key, private key block or bearer token that starts with the
// word at i.
func (c *scan) token(i int) int {
	s := c.s[i:]
	switch s[0] {
	case 'b', 'B':
		if end := c.bearer(i); end != none {
			return end
		}
		if end := c.privateKey(i); end != none {
			return end
		}
	}
	for _, k := range formatsOf[s[0]] {
		f := &formats[k]
		if len(s) < len(f.prefix) {
			if !c.final && strings.HasPrefix(f.prefix, s) {
				return more
			}
			continue
		}
		if !strings.HasPrefix(s, f.prefix) {
			continue
		}
		if end := c.format(f, i); end != none {
			if end >= 0 {
				c.hide(i, end)
			}
			return end
		}
	}
	return none
}
