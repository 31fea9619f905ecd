package redact

import "strings"

// hideValue hides the value s[v:end] and what of a longer construct hangs on
// its end: rules 1 to 6 come before the assignments, so that what they find
// inside a value reaches beyond it.
func (c *scan) hideValue(kind keyKind, v, end int) int {
	if next := c.hideOpenKey(v, end); next != none {
		return next
	}
	from, stop := c.hangs(kind, v, end)
	if stop == more {
		return more
	}
	c.hide(v, end)
	if stop == none {
		return end
	}
	c.hide(from, stop)
	return stop
}

// hideOpenKey hides a value in which a private key block begins and does not end.
func (c *scan) hideOpenKey(v, end int) int {
	s := c.s
	if strings.IndexByte(s[v:end], '-') < 0 {
		return none
	}
	label := none
	if strings.HasSuffix(s[v:end], "-----BEGIN") {
		label = c.privateKeyIn(end)
	} else if k := strings.LastIndex(s[v:end], "-----BEGIN "); k >= 0 {
		label = c.pemLabel(v + k + len("-----BEGIN "))
	}
	if label < 0 {
		return label
	}
	if label <= end && hasPEMEnd(s[label:end]) {
		return none
	}
	c.hide(v, label)
	return c.openPEM(label, keyValue)
}

// hangs returns the second part of what the value s[v:end] begins: the token
// of a bearer or of another scheme, or the data of a data URL.
func (c *scan) hangs(kind keyKind, v, end int) (from, stop int) {
	value := c.s[v:end]
	switch {
	case hasWordSuffix(value, "bearer") && (len(value) > len("bearer") || kind != noKey):
		return c.hanging(end, bearerSet, 8)
	case kind == authKey && isScheme(value):
		from, stop = c.hanging(end, bearerSet, 8)
		if stop >= 0 && !looksEncoded(c.s[from:stop]) {
			return end, none
		}
		return from, stop
	case (end == len(c.s) || c.s[end] == ';') && dataHead(value):
		return c.hangingData(end)
	}
	return end, none
}

// hanging returns the token of at least so many characters that follows blanks at end.
func (c *scan) hanging(end int, set uint32, least int) (from, stop int) {
	from = skipBlanks(c.s, end)
	stop = runEnd(c.s, from, set)
	switch {
	case stop == len(c.s) && !c.final:
		return from, more
	case from == end || stop-from < least:
		return from, none
	}
	return from, stop
}

func (c *scan) hangingData(end int) (from, stop int) {
	const base64 = ";base64,"
	rest := c.s[end:]
	if !strings.HasPrefix(rest, base64) {
		if len(rest) < len(base64) && strings.HasPrefix(base64, rest) {
			return end, c.end(none)
		}
		return end, none
	}
	from = end + len(base64)
	stop = runEnd(c.s, from, dataSet)
	if stop == len(c.s) && !c.final {
		return from, more
	}
	if stop == from {
		return from, none
	}
	return from, stop
}

// hasWordSuffix reports whether v ends in the word w, in any case.
func hasWordSuffix(v, w string) bool {
	k := len(v) - len(w)
	return k >= 0 && strings.EqualFold(v[k:], w) && (k == 0 || !wordBefore(v, k))
}

// schemes are the words that stand before the secret in an Authorization header.
var schemes = []string{"basic", "token", "digest", "apikey", "api-key", "key", "negotiate", "ntlm", "dpop", "bot", "ssws", "geniekey", "splunk", "oauth", "hmac", "sso-key", "user", "jwt", "pat"}

func isScheme(v string) bool {
	for _, s := range schemes {
		if strings.EqualFold(v, s) {
			return true
		}
	}
	return false
}

// looksEncoded reports whether a token is no word of prose.
func looksEncoded(v string) bool {
	seen := uint32(0)
	for i := 0; i < len(v); i++ {
		seen |= classes[v[i]]
	}
	mixed := seen&lower != 0 && strings.IndexFunc(v[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0
	return seen&(digit|equal|base) != 0 || mixed
}
