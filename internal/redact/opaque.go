package redact

import "strings"

// Words of formats without a fixed beginning are told by their shape when they
// have ended. Until then a stream may show what every word begins with: the
// letters before the first one that is odd. So that this stays true, such a key
// is hidden from there on, and its first letters stay.

const (
	maxOpaque   = 256 // bytes of a word whose shape counts
	minBody     = 20  // of a key behind the prefix of a provider we do not know
	maxProvider = 16  // of that prefix
	awsSecret   = 40  // characters of an AWS secret access key
)

// odd returns the place of the first character behind w[0] that is no small
// letter, or len(w).
func odd(w string) int {
	for k := 1; k < len(w); k++ {
		if classes[w[k]]&lower == 0 {
			return k
		}
	}
	return len(w)
}

// mayBeOpaque reports whether the word s[i:j] is worth a look at its shape.
func mayBeOpaque(s string, i, j int) bool {
	return j-i >= minBody || j == len(s) || opaqueLens[s[j]]>>(j-i)&1 != 0
}

// opaqueLens holds, by the byte behind a word, the lengths below minBody of the
// words that are worth a look, one bit each.
var opaqueLens = [256]uint32{
	':': 1<<15 - 1<<8, // Telegram: 8 to 11 digits, maybe behind "bot"
	'.': 1 << 14,      // Terraform
	'~': 1 << 5,       // Entra ID
	'/': 1<<minBody - 1, '+': 1<<minBody - 1,
}

// opaque looks at the word s[i:j]. It returns the place to go on from, or ^p to
// wait with all from p on.
func (c *scan) opaque(i, j int) int {
	if j-i > maxOpaque || !c.boundary(i) {
		return j
	}
	h := i + odd(c.s[i:j])
	end := more
	if j < len(c.s) || c.final {
		end = c.shape(i, j)
	}
	switch {
	case end == more:
		c.again = i // the shape is that of the whole word
		return ^max(h, c.copied)
	case end > h && !wordAfter(c.s, end):
		c.hide(h, end)
		return end
	}
	return j
}

// shape returns the end of the key that begins with the word s[i:j].
func (c *scan) shape(i, j int) int {
	s := c.s
	if j < len(s) {
		switch s[j] {
		case ':':
			return c.botToken(i, j)
		case '.':
			return c.dottedKey(i, j)
		case '-':
			return c.mailchimp(i, j)
		case '~':
			return c.azureSecret(i, j)
		case '/', '+':
			return c.slashed(i, j)
		}
	}
	if j-i < minBody {
		return none
	}
	if j-i == awsSecret {
		if end := c.slashed(i, j); end != none {
			return end
		}
	}
	return c.prefixed(i, j)
}

// runFrom returns the end of a run of at least so many characters at i.
func (c *scan) runFrom(i int, set uint32, least int) int {
	end := runEnd(c.s, i, set)
	if end == len(c.s) && !c.final {
		return more
	}
	if end-i < least {
		return none
	}
	return end
}

// literal reports whether p stands at i: i behind it, none or more.
func (c *scan) literal(i int, p string) int {
	rest := c.s[i:]
	if strings.HasPrefix(rest, p) {
		return i + len(p)
	}
	if len(rest) < len(p) && strings.HasPrefix(p, rest) {
		return c.end(none)
	}
	return none
}

// botToken: Telegram, "<8 to 11 digits>:A<34 characters>", also behind "bot".
func (c *scan) botToken(i, j int) int {
	digits := strings.TrimPrefix(c.s[i:j], "bot")
	if len(digits) < 8 || len(digits) > 11 || runEnd(digits, 0, digit) != len(digits) {
		return none
	}
	if body := c.literal(j, ":A"); body < 0 {
		return body
	}
	end := runEnd(c.s, j+1, url64)
	switch {
	case end == len(c.s) && !c.final:
		return more
	case end-j-1 >= 30 || end == len(c.s) && end-j-1 >= minCutKey:
		return end
	}
	return none
}

// dottedKey: Terraform, "<14>.atlasv1.<60 or more>", and Discord,
// "<24 or so>.<6 or 7>.<27 or more>" where the first part is a number in base64.
func (c *scan) dottedKey(i, j int) int {
	w := c.s[i:j]
	switch {
	case len(w) == 14:
		body := c.literal(j, ".atlasv1.")
		if body < 0 {
			return body
		}
		return c.runFrom(body, url64|equal, 40)
	case len(w) >= 22 && len(w) <= 30 && strings.IndexByte("MNO", w[0]) >= 0:
		mid := c.runFrom(j+1, url64, 6)
		if mid < 0 {
			return mid
		}
		if mid-j-1 > 7 || mid < len(c.s) && c.s[mid] != '.' || mid == len(c.s) {
			return none
		}
		return c.runFrom(mid+1, url64, 27)
	}
	return none
}

// mailchimp: "<32 hexadecimal digits>-us<data centre>".
func (c *scan) mailchimp(i, j int) int {
	if j-i != 32 || runEnd(c.s, i, hexSet) != j {
		return c.prefixedOrNone(i, j)
	}
	dc := c.literal(j, "-us")
	if dc < 0 {
		return dc
	}
	return c.runFrom(dc, digit, 1)
}

// azureSecret: Entra ID, "<3 characters><digit>Q~<31 to 34 characters>".
func (c *scan) azureSecret(i, j int) int {
	if j-i != 5 || c.s[j-1] != 'Q' || classes[c.s[j-2]]&digit == 0 {
		return none
	}
	return c.runFrom(j+1, tokenSet|tilde, 25)
}

// slashed: an AWS secret access key, 40 characters of base64.
func (c *scan) slashed(i, j int) int {
	s := c.s
	if i > c.floor && classes[s[i-1]]&(base|dash|dot) != 0 {
		return none
	}
	end := runEnd(s[:min(len(s), i+awsSecret+1)], i, alnum|base)
	switch {
	case end-i > awsSecret:
		return none
	case end == len(s) && !c.final:
		return more
	case end-i != awsSecret || end < len(s) && classes[s[end]]&(equal|under|dot) != 0 || !mixedWell(s[i:end], true):
		return none
	}
	return end
}

func (c *scan) prefixedOrNone(i, j int) int {
	if j-i < minBody {
		return none
	}
	return c.prefixed(i, j)
}

// prefixed: "<provider>_<body>" or "<provider>-<body>" of providers that we do
// not know: the body is long and mixes digits, small and capital letters.
func (c *scan) prefixed(i, j int) int {
	w := c.s[i:j]
	if k := strings.LastIndexByte(w, '_'); k > 0 {
		first := strings.IndexByte(w, '_')
		if first == 0 || first > maxProvider || len(w)-k-1 < minBody || !mixedWell(w[k+1:], true) {
			return none
		}
		return j
	}
	if i-3 < c.floor || c.s[i-1] != '-' || classes[c.s[i-2]]&alnum == 0 || classes[c.s[i-3]]&lower == 0 || !mixedWell(w, true) {
		return none
	}
	p := i - 1
	for p > c.floor && i-p < maxProvider && classes[c.s[p-1]]&alnum != 0 {
		p--
	}
	if strings.HasPrefix(c.s[p:], "sha") || strings.HasPrefix(c.s[p:], "md5") {
		return none // a sum, not a key
	}
	return j
}

// mixedWell reports whether v looks drawn at random: it has digits and letters,
// capital ones too where capitals is set, and its classes change often.
func mixedWell(v string, capitals bool) bool {
	var digits, lowers, uppers, changes int
	last := uint32(0)
	for k := 0; k < len(v); k++ {
		cl := classes[v[k]] & (digit | lower | upper)
		switch cl {
		case digit:
			digits++
		case lower:
			lowers++
		case upper:
			uppers++
		}
		if k > 0 && cl != last {
			changes++
		}
		last = cl
	}
	return digits >= 2 && lowers >= 2 && (!capitals || uppers >= 2) && changes*5 >= len(v)*2
}
