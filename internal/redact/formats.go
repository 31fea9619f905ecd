package redact

import "strings"

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
