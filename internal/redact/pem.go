package redact

import "strings"

const (
	pemDashes   = "-----"
	pemBegin    = "BEGIN "
	pemEnd      = "-----END "
	pemKind     = "PRIVATE KEY"
	maxPEMLabel = 64 // bytes between BEGIN and the dashes: real ones have under 30
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
	if !strings.HasPrefix(s[j:], pemDashes) || !strings.HasSuffix(s[i:j], pemKind) {
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
	return c.openPEM(end)
}

// openPEM swallows the block whose first line ends at i. Without an END line it
// goes on to the end of the text (decision 33).
func (c *scan) openPEM(i int) int {
	c.pem = true
	return c.skipPEM(i)
}

func (c *scan) skipPEM(i int) int {
	for {
		k := strings.Index(c.s[i:], pemEnd)
		if k < 0 {
			i = max(i, len(c.s)-len(pemEnd)+1)
			break
		}
		switch end := c.pemLabel(i + k + len(pemEnd)); end {
		case none:
			i += k + len(pemDashes)
			continue
		case more:
			i += k
		default:
			c.pem = false
			i = end
		}
		break
	}
	if c.pem && c.final {
		i = len(c.s)
	}
	c.copied, c.floor = i, i
	return i
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
