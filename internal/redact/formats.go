package redact

import "strings"

// headBytes is the length of the shortest beginning that tells formats from
// ordinary words.
const headBytes = 3

func head(s string) int {
	return int(s[0]&31) | int(s[1]&31)<<5 | int(s[2]&31)<<10
}

var heads, formatsOf = makeHeads()

// makeHeads returns the set of all heads, and the formats of each first byte.
func makeHeads() (t [1 << 10]uint32, of [256][]uint16) {
	add := func(s string) {
		h := head(s)
		t[h>>5] |= 1 << (h & 31)
	}
	for k, f := range formats {
		of[f.prefix[0]] = append(of[f.prefix[0]], uint16(k))
		for b := 0; len(f.prefix) < headBytes && b < 256; b++ {
			if classes[b]&f.set != 0 {
				add(f.prefix + string(rune(b)))
			}
		}
		if len(f.prefix) >= headBytes {
			add(f.prefix)
		}
	}
	add("bea")
	add("beg")
	return t, of
}

// isHead reports whether a key may begin like s, which has headBytes.
func isHead(s string) bool {
	h := head(s)
	return heads[h>>5]>>(h&31)&1 != 0
}

// partialHead reports whether s, shorter than a head, may grow into one.
func partialHead(s string) bool {
	if s[0]|0x20 == 'b' && (len(s) == 1 || s[1]|0x20 == 'e') {
		return true
	}
	for _, k := range formatsOf[s[0]] {
		p := formats[k].prefix
		if strings.HasPrefix(p, s) || strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// format returns the end of the key at i, whose beginning has been compared.
func (c *scan) format(f *format, i int) int {
	from := i + len(f.prefix)
	end, seen := from, uint32(0)
	for end < len(c.s) && classes[c.s[end]]&f.set != 0 {
		seen |= classes[c.s[end]]
		end++
	}
	if end == len(c.s) && !c.final {
		return more
	}
	if f.max > 0 && end-from > f.max || seen&f.needs != f.needs {
		return none
	}
	// A key ends where a word ends: characters that are none are given back.
	for end > from && !c.endsWord(end) {
		end--
	}
	if end-from < f.min {
		return none
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

// bearerToken hides the token that follows white space at i.
func (c *scan) bearerToken(i int) int {
	from := skipBlanks(c.s, i)
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
