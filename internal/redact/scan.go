package redact

import (
	"strings"
	"unicode/utf8"
)

// What a matcher can say besides the end of a match.
const (
	none = -1 // no match, whatever follows
	more = -2 // the text ends where the decision would fall
)

// scan walks over a text once. Bytes before copied are in out; bytes between
// copied and the current place stay as they are.
type scan struct {
	s      string
	out    []byte
	copied int
	floor  int  // end of the last replacement: looking back stops here
	final  bool // the text ends where s ends; otherwise more may come, and s ends with a whole character
	pem    bool // inside a private key block whose mark is in out already
}

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
	s := c.s
	if c.pem {
		if i = c.skipPEM(i); c.pem {
			return i
		}
	}
	for i < len(s) {
		switch kinds[s[i]] {
		case other:
			i++
		case separator:
			next := c.atSeparator(i)
			if next == more {
				return i
			}
			i = next
		case letter:
			next := c.atWord(i)
			if next < 0 {
				return ^next
			}
			i = next
		}
		if c.pem {
			return i
		}
	}
	return c.tail()
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
)

var kinds = makeKinds()

func makeKinds() (t [256]uint8) {
	for b := range t {
		if classes[b]&word != 0 {
			t[b] = letter
		}
	}
	t[':'], t['='] = separator, separator
	return t
}

// atWord looks at the word that starts at i. It returns the place to go on
// from, or ^p to wait with all from p on.
func (c *scan) atWord(i int) int {
	s := c.s
	if i+headBytes > len(s) {
		if !c.final && c.boundary(i) && partialHead(s[i:]) {
			return ^c.wait(i)
		}
	} else if heads[head(s[i:])] && c.boundary(i) {
		switch end := c.token(i); {
		case end == more:
			return ^c.wait(i)
		case end >= 0:
			return end
		}
	}
	for i++; i < len(s) && kinds[s[i]] == letter; {
		i++
	}
	return i
}

// wait returns where to wait when the word at i is not decided: before the
// dashes that could belong to it.
func (c *scan) wait(i int) int {
	for k := 0; k < len(pemDashes) && i > c.floor && c.s[i-1] == '-'; k++ {
		i--
	}
	return i
}

// boundary reports whether no word character stands before i.
func (c *scan) boundary(i int) bool {
	if i <= c.floor {
		return true
	}
	if b := c.s[i-1]; b < utf8.RuneSelf {
		return classes[b]&word == 0
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
		if s[0] == 'B' {
			return c.privateKey(i)
		}
		return none
	}
	for k := range formats {
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
