package redact

import (
	"strings"
	"unicode/utf8"
)

// headBytes is the length of the beginning that tells most formats from
// ordinary words.
const headBytes = 3

// headBits is the size of the set of heads, as a power of two: of the words of
// a text, one in a hundred is taken for a head that it is not.
const headBits = 15

// headOf returns the first bytes of s, the first one lowest.
func headOf(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// headHash maps the first bytes of a word, the first one lowest, to a place in
// the set; what lies above headBytes does not count.
func headHash(v uint32) uint32 {
	return v << 8 * 0x9e3779b1 >> (32 - headBits)
}

// entry is a format in the list of its first byte.
type entry struct {
	head uint32 // its first bytes, 0 where it has fewer than headBytes
	grow bool   // what follows like a key belongs to it
	*format
}

var heads, formatsOf = makeHeads()

// makeHeads returns the set of all heads, and the formats of each first byte.
func makeHeads() (t [1 << (headBits - 5)]uint32, of [256][]entry) {
	add := func(s string) {
		h := headHash(headOf(s))
		t[h>>5] |= 1 << (h & 31)
	}
	for k := range len(ruleFormats) + len(formats) {
		e := entry{grow: k >= len(ruleFormats)}
		if e.grow {
			e.format = &formats[k-len(ruleFormats)]
		} else {
			e.format = &ruleFormats[k]
		}
		if len(e.prefix) >= headBytes {
			e.head = headOf(e.prefix)
			add(e.prefix)
		} else {
			for b := range utf8.RuneSelf {
				if classes[b]&e.set != 0 {
					add(e.prefix + string(rune(b)))
				}
			}
		}
		of[e.prefix[0]] = append(of[e.prefix[0]], e)
	}
	add("BEG")
	for _, b := range [...]string{"bea", "beA", "bEa", "bEA", "Bea", "BeA", "BEa", "BEA"} {
		add(b)
	}
	return t, of
}

// partialHead reports whether s, shorter than a head, may grow into one.
func partialHead(s string) bool {
	if s[0]|0x20 == 'b' && (len(s) == 1 || s[1]|0x20 == 'e') {
		return true
	}
	for _, f := range formatsOf[s[0]] {
		p := f.prefix
		if strings.HasPrefix(p, s) || strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// minCutKey is how much of a key must stand at the end of a text, where the
// text may have been cut, for the key to be hidden.
const minCutKey = 8

// maxPlain is how far a key is read to see the classes that it needs, so that
// time stays linear.
const maxPlain = 256

// format returns the end of the key at i, whose beginning has been compared.
func (c *scan) format(f entry, i int) int {
	from := i + len(f.prefix)
	end, seen := from, uint32(0)
	for end < len(c.s) && classes[c.s[end]]&f.set != 0 {
		seen |= classes[c.s[end]]
		if end++; end-from == maxPlain && seen&f.needs != f.needs {
			return none
		}
	}
	if end == len(c.s) && !c.final {
		return more
	}
	if f.max > 0 && end-from > f.max || seen&f.needs != f.needs {
		return none
	}
	least := f.min
	if end == len(c.s) && f.needs == 0 {
		least = min(least, minCutKey)
	}
	// A key ends where a word ends: characters that are none are given back.
	for end > from && !c.endsWord(end) {
		end--
	}
	if end-from < least {
		return none
	}
	if f.max > 0 || !f.grow {
		return end
	}
	return c.growKey(end)
}

// growKey returns the end of a key that goes on in other characters than its
// provider used to take.
func (c *scan) growKey(i int) int {
	end := runEnd(c.s, i, url64)
	if end == len(c.s) && !c.final {
		return more
	}
	for end > i && !c.endsWord(end) {
		end--
	}
	return end
}

// endsWord reports whether there is a word boundary at i, behind an ASCII character.
func (c *scan) endsWord(i int) bool {
	return (classes[c.s[i-1]]&word != 0) != wordAfter(c.s, i)
}

// bearer hides the token behind the word bearer at i.
func (c *scan) bearer(i int) int {
	const name = "bearer"
	s := c.s
	n := min(len(s)-i, len(name))
	if !strings.EqualFold(s[i:i+n], name[:n]) {
		return none
	}
	if n < len(name) {
		return c.end(none)
	}
	return c.bearerToken(i + len(name))
}

// bearerToken hides the token that follows white space at i. In JSON or source
// code a tab may be escaped.
func (c *scan) bearerToken(i int) int {
	from := skipBlanks(c.s, i)
	if from == i {
		esc := c.literal(i, `\t`)
		if esc == more {
			return more
		}
		from = max(from, esc)
	}
	if from == len(c.s) {
		return c.end(none)
	}
	if from == i {
		return none
	}
	end := runEnd(c.s, from, bearerSet)
	if end == len(c.s) && !c.final {
		return more
	}
	if end-from < 8 {
		return none
	}
	c.hide(from, end)
	return end
}
