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
	again  int  // where to go on when more has come, unless it is where run stopped
	floor  int  // end of the last replacement: looking back stops here
	user   bool // that replacement is part of the user in a URL
	final  bool // the text ends where s ends; otherwise more may come, and s ends with a whole character
	block  block
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
	c.user = c.afterUser(from)
	if c.out == nil {
		c.out = make([]byte, 0, len(c.s))
	}
	c.out = append(append(c.out, c.s[c.copied:from]...), mark...)
	c.copied, c.floor = to, to
}

// run scans from i on and returns the place up to which all is decided: the end
// of s when the text is final.
func (c *scan) run(i int) int {
	c.again = none
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
		if !c.loose {
			if i = c.skim(i); i == len(s) {
				break
			}
		}
		kind, word := table[s[i]], 0
		if kind == other {
			i++
			continue
		}
		if kind == letter && i+headBytes < len(s) && !mayStart(s, i) {
			j := i + 1
			for j < len(s) && kinds[s[j]] == letter {
				j++
			}
			if !mayBeOpaque(s, i, j) {
				i = j
				continue
			}
			kind, word = opaqueWord, j
		}
		next := c.at(kind, i, word)
		if next < 0 {
			return next
		}
		if i = next; c.inside != plainText || c.loose && table != &looseKinds {
			return i
		}
	}
	return i
}

// at looks at the byte of that kind at i, or at the word s[i:end], and returns
// the place to go on from, or ^p to wait with all from p on.
func (c *scan) at(kind uint8, i, end int) int {
	next := i
	switch kind {
	case opaqueWord:
		return c.opaque(i, end)
	case separator:
		next = c.atSeparator(i)
	case letter:
		return c.atWord(i)
	case backslash:
		next = c.atBackslash(i)
	case lineEnd:
		next = c.atLine(i + 1)
	}
	if next == more {
		return ^i
	}
	return next
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
	backslash
	opaqueWord // a word whose shape is looked at
	lineEnd    // only where a private key may go on
)

var kinds, looseKinds = makeKinds()

func makeKinds() (t, loose [256]uint8) {
	for b := range t {
		if classes[b]&word != 0 {
			t[b] = letter
		}
	}
	t[':'], t['='], t['\\'] = separator, separator, backslash
	loose = t
	loose['\n'] = lineEnd
	return t, loose
}

// atWord looks at the word that starts at i. It returns the place to go on
// from, or ^p to wait with all from p on.
func (c *scan) atWord(i int) int {
	switch end := c.keyAt(i); {
	case end >= 0:
		return end
	case end == more:
		return ^c.wait(i)
	}
	j := i + 1
	for j < len(c.s) && kinds[c.s[j]] == letter {
		j++
	}
	if !mayBeOpaque(c.s, i, j) {
		return j
	}
	return c.opaque(i, j)
}

// atBackslash looks at the word behind the escape at i.
func (c *scan) atBackslash(i int) int {
	s := c.s
	if i+1 == len(s) || i+2 == len(s) && c.escape(i+1) {
		return c.end(i + 1)
	}
	if !c.escape(i+1) || kinds[s[i+2]] != letter {
		return i + 1
	}
	if end := c.keyAt(i + 1); end != none {
		return end
	}
	if end := c.keyAt(i + 2); end != none {
		return end
	}
	return i + 1
}

// keyAt hides the key that starts with the word at i.
func (c *scan) keyAt(i int) int {
	if s := c.s[i:]; len(s) < headBytes {
		if !c.final && c.boundary(i) && partialHead(s) {
			return more
		}
	} else if c.boundary(i) {
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
	head := headOf(s)
	for _, f := range index.of[s[0]] {
		if f.head != head && f.head != 0 {
			continue
		}
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
