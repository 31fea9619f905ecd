package redact

import (
	"strings"
	"unicode/utf8"
)

// How a name marks what follows it as a value to hide.
type keyKind uint8

const (
	noKey       keyKind = iota
	exactKey            // storage.md 11.1, rule 7
	authKey             // rule 7, authorization: a scheme may stand before the value
	longKey             // decision 46: a name that ends in token, key, secret or password
	comparedKey         // any name before := or == or => or their like
	weakKey             // decision 46: a name that often stands before other things
)

// maxLookBack bounds in bytes how far before a separator its name is looked
// for: blanks, quotes and the name together. A stream keeps as much.
const maxLookBack = 256

// secretKeys are the names of rule 7: '_' stands for '_' or '-', '?' for one of
// them or nothing.
var secretKeys = []string{
	"bearer", "credential", "credentials", "aws?secret_access_key", "secret_access_key", "aws?session_token", "session_token",
	"secret_key", "exa?api?key", "api?key", "password", "passwd", "secret", "token", "access?token", "refresh?token", "auth?token", "id?token",
	"client?secret", "account?id", "chatgpt?account?id",
}

// longEnds are what longer names end in.
var longEnds = []string{"token", "key", "secret", "password", "passwd", "passphrase", "credential", "credentials", "pwd"}

// keyParts stand before "key" in names of secrets.
var keyParts = []string{"api", "secret", "private", "access", "auth", "account", "encryption", "signing", "master", "service", "license", "deploy"}

// weakKeys are names whose values are secrets when they look like one.
var weakKeys = []string{"sig", "signature", "auth", "pass", "key", "pat", "jwt", "dsn"}

// keyBefore says what name ends at i, not looking before c.floor.
func (c *scan) keyBefore(i int) keyKind {
	low := max(c.floor, i-maxLookBack)
	if i <= low || !beforeSeparator[c.s[i-1]] {
		return noKey
	}
	j := i
	if classes[c.s[i-1]]&(lower|upper) == 0 {
		j = c.skipBack(i, low)
	}
	if j-low < 2 {
		return noKey
	}
	for _, n := range namesOf[lastTwo(c.s[j-2], c.s[j-1])] {
		at := matchBack(c.s, low, j, n.text)
		if at < 0 {
			continue
		}
		joined := at > low && c.joint(at, low)
		switch n.kind {
		case authKey, exactKey:
			if c.boundary(at) {
				return n.kind
			}
		case longKey:
			if joined && (n.text != "key" || c.strongKey(at, low)) {
				return longKey
			}
		case weakKey:
			if joined || c.boundary(at) {
				return weakKey
			}
		}
	}
	return noKey
}

// strongKey reports whether the part of a name before "key", which starts at
// i, says that the key is a secret.
func (c *scan) strongKey(i, low int) bool {
	if b := c.s[i-1]; b == '_' || b == '-' {
		i--
	}
	for _, k := range keyParts {
		if matchBack(c.s, low, i, k) >= 0 {
			return true
		}
	}
	return false
}

// name is a name with its kind.
type name struct {
	text string
	kind keyKind
}

// namesOf holds the names by their last two letters.
var namesOf = makeNames()

func makeNames() (t [32 * 32][]name) {
	add := func(kind keyKind, texts []string) {
		for _, n := range texts {
			h := lastTwo(n[len(n)-2], n[len(n)-1])
			t[h] = append(t[h], name{n, kind})
		}
	}
	add(authKey, []string{"authorization"})
	add(exactKey, secretKeys)
	add(longKey, longEnds)
	add(weakKey, weakKeys)
	long := lastTwo(0xc5, 0xbf) // the long s
	t[long] = append(t[long], t[lastTwo('l', 's')]...)
	return t
}

// namePairs says of which two letters there are names, one bit each.
var namePairs = makeNamePairs()

func makeNamePairs() (t [32]uint32) {
	for h, names := range namesOf {
		if len(names) > 0 {
			t[h>>5] |= 1 << (h & 31)
		}
	}
	return t
}

// beforeSeparator says of each byte whether a name, or what may stand between a
// name and its separator, can end in it.
var beforeSeparator = makeBeforeSeparator()

func makeBeforeSeparator() (t [256]bool) {
	for _, b := range " \t\v\f\"']" {
		t[b] = true
	}
	for b := utf8.RuneSelf; b < len(t); b++ {
		t[b] = true
	}
	var last uint32 // the last letters of names, one bit each
	for h, names := range namesOf {
		if len(names) > 0 {
			last |= 1 << (h & 31)
		}
	}
	for b := range t {
		t[b] = t[b] || last>>(b&31)&1 != 0 && classes[b]&(lower|upper) != 0
	}
	return t
}

func lastTwo(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// skipBack goes back from a separator over blanks, a quote with its escapes,
// and the bracket of an index, to the end of a name.
func (c *scan) skipBack(i, low int) int {
	s := c.s
	for i > low {
		r, n := utf8.DecodeLastRuneInString(s[low:i])
		if blank(s, i-n) == 0 || r == utf8.RuneError {
			break
		}
		i -= n
	}
	if i-1 > low && s[i-1] == ']' && (s[i-2] == '"' || s[i-2] == '\'') {
		i--
	}
	if i > low && (s[i-1] == '"' || s[i-1] == '\'') {
		for i--; i > low && s[i-1] == '\\'; {
			i--
		}
	}
	return i
}

// joint reports whether the last part of a name, which starts at i, is joined
// to a part before it by '_', '-' or camel case.
func (c *scan) joint(i, low int) bool {
	s := c.s
	switch prev := s[i-1]; {
	case prev == '_' || prev == '-':
		return i-1 > low && classes[s[i-2]]&alnum != 0
	case classes[s[i]]&upper == 0:
		return false
	default:
		return classes[prev]&(lower|digit) != 0 || classes[prev]&upper != 0 && classes[s[i+1]]&lower != 0
	}
}

// matchBack compares the end of s[low:end] with a name and returns where it
// starts, or -1. Case is folded as the reference does: also the long s and the
// Kelvin sign match.
func matchBack(s string, low, end int, name string) int {
	for k := len(name) - 1; k >= 0; k-- {
		if end <= low {
			return -1
		}
		b, p := s[end-1], name[k]
		switch {
		case p == '?' || p == '_':
			if b == '_' || b == '-' {
				end--
			} else if p == '_' {
				return -1
			}
		case b|0x20 == p && b < utf8.RuneSelf:
			end--
		case p == 's' && strings.HasSuffix(s[low:end], "\u017f"):
			end -= len("\u017f")
		case p == 'k' && strings.HasSuffix(s[low:end], "\u212a"):
			end -= len("\u212a")
		default:
			return -1
		}
	}
	return end
}
