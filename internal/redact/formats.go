package redact

import "strings"

// format is a kind of key with a fixed beginning.
type format struct {
	prefix   string
	set      uint16 // of the characters that follow
	min, max int    // of how many follow; max 0: any number
}

var formats = []format{
	{"ghp_", word, 20, 0}, {"gho_", word, 20, 0}, {"ghu_", word, 20, 0}, {"ghs_", word, 20, 0}, {"ghr_", word, 20, 0},
	{"github_pat_", word, 20, 0},
	{"AKIA", digit | upper, 16, 16}, {"ASIA", digit | upper, 16, 16},
	{"sk-", tokenSet, 1, 0}, {"eyJ", tokenSet, 1, 0},
}

// headBytes is the length of the shortest beginning that tells formats from
// ordinary words.
const headBytes = 3

func head(s string) int {
	return int(s[0]&31) | int(s[1]&31)<<5 | int(s[2]&31)<<10
}

var heads = makeHeads()

func makeHeads() *[1 << 15]bool {
	var t [1 << 15]bool
	for _, f := range formats {
		t[head(f.prefix)] = true
	}
	t[head("bea")] = true // case is not part of a head
	t[head("beg")] = true
	return &t
}

// partialHead reports whether s, shorter than a head, may grow into one.
func partialHead(s string) bool {
	if s[0]|0x20 == 'b' && (len(s) == 1 || s[1]|0x20 == 'e') {
		return true
	}
	for k := range formats {
		if strings.HasPrefix(formats[k].prefix, s) {
			return true
		}
	}
	return false
}

// format returns the end of the key at i, whose beginning has been compared.
func (c *scan) format(f *format, i int) int {
	from := i + len(f.prefix)
	end := runEnd(c.s, from, f.set)
	if end == len(c.s) && !c.final {
		return more
	}
	if f.max > 0 && end-from > f.max {
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
