package redact

import "strings"

const (
	pemDashes   = "-----"
	pemBegin    = "BEGIN "
	pemEnd      = "-----END "
	pemKind     = "PRIVATE KEY"
	pemBlock    = "PRIVATE KEY BLOCK" // OpenPGP
	maxPEMLabel = 64                  // bytes between BEGIN and the dashes: real ones have under 40
)

// pemLabel reads "<A-Z and spaces>PRIVATE KEY-----" at i and returns its end.
func (c *scan) pemLabel(i int) int {
	s := c.s
	j := i
	for j < len(s) && j-i < maxPEMLabel && (s[j] == ' ' || classes[s[j]]&upper != 0) {
		j++
	}
	if rest := s[j:]; len(rest) < len(pemDashes) && strings.HasPrefix(pemDashes, rest) {
		return c.end(none)
	}
	if !strings.HasPrefix(s[j:], pemDashes) || !strings.HasSuffix(s[i:j], pemKind) && !strings.HasSuffix(s[i:j], pemBlock) {
		return none
	}
	return j + len(pemDashes)
}

// privateKey hides the private key block whose BEGIN stands at i.
func (c *scan) privateKey(i int) int {
	from := i - len(pemDashes)
	if from < c.floor || c.s[from:i] != pemDashes {
		return none
	}
	if rest := c.s[i:]; len(rest) < len(pemBegin) && strings.HasPrefix(pemBegin, rest) {
		return c.end(none)
	}
	if !strings.HasPrefix(c.s[i:], pemBegin) {
		return none
	}
	end := c.pemLabel(i + len(pemBegin))
	if end < 0 {
		return end
	}
	c.hide(from, end)
	return c.openPEM(end, privateKey)
}

// privateKeyIn returns the end of the first line of a private key block whose
// "-----BEGIN" ends at i.
func (c *scan) privateKeyIn(i int) int {
	if i == len(c.s) {
		return c.end(none)
	}
	if c.s[i] != ' ' {
		return none
	}
	return c.pemLabel(i + 1)
}

// hasPEMEnd reports whether an END line of a private key stands in s.
func hasPEMEnd(s string) bool {
	c := scan{s: s, final: true}
	for i := 0; ; {
		k := strings.Index(s[i:], pemEnd)
		if k < 0 {
			return false
		}
		if i += k + len(pemEnd); c.pemLabel(i) >= 0 {
			return true
		}
	}
}

// openPEM swallows the block whose first line ends at i. Without an END line it
// goes on to the end of the text (decision 33).
func (c *scan) openPEM(i int, inside state) int {
	c.inside = inside
	return c.skipPEM(i)
}

// skipPEM swallows what stands at i inside a private key block. A code fence
// shows (decision 46); behind it only lines that could belong to a key are
// hidden.
func (c *scan) skipPEM(i int) int {
	start := i
	for {
		k := strings.IndexAny(c.s[i:], "-\n")
		if k < 0 {
			i = len(c.s)
			break
		}
		i += k
		if c.s[i] == '\n' {
			next := runOf(c.s, i+1, " \t>")
			if f := c.fence(next); f == more || next == len(c.s) && !c.final {
				break
			} else if f >= 0 {
				c.inside, c.loose = plainText, true
				break
			}
			i = next
			continue
		}
		end := c.pemEndAt(i)
		if end == more {
			break
		}
		if end >= 0 {
			i = c.closePEM(end)
			break
		}
		i++
	}
	c.copied, c.floor = max(i, start), max(i, start)
	return c.copied
}

// pemEndAt returns the end of the END line at i.
func (c *scan) pemEndAt(i int) int {
	rest := c.s[i:]
	if len(rest) < len(pemEnd) && strings.HasPrefix(pemEnd, rest) {
		return c.end(none)
	}
	if !strings.HasPrefix(rest, pemEnd) {
		return none
	}
	return c.pemLabel(i + len(pemEnd))
}

// closePEM ends the block: where it was part of a value, the rest of that goes too.
func (c *scan) closePEM(i int) int {
	if c.inside == keyValue {
		c.inside = valueTail
		return c.skipTail(i)
	}
	c.inside = plainText
	return i
}

// Shortest lines that are taken for a part of a private key.
const (
	minKeyLine  = 8
	minWordLine = 24
)

// atLine hides the line at i when it could be a part of a private key. It
// returns i when it could not.
func (c *scan) atLine(i int) int {
	from := runOf(c.s, i, " \t>")
	end, seen := from, uint32(0)
	for end < len(c.s) && classes[c.s[end]]&std64 != 0 {
		seen |= classes[c.s[end]]
		end++
	}
	if end == len(c.s) && !c.final {
		return more
	}
	least := minWordLine
	if seen&(digit|base|equal) != 0 {
		least = minKeyLine
	}
	if end-from < least || end < len(c.s) && c.s[end] != '\n' && c.s[end] != '\r' {
		return i
	}
	c.hide(from, end)
	return end
}
