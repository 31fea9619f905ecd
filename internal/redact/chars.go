package redact

import (
	"unicode"
	"unicode/utf8"
)

// Classes of ASCII bytes. A set is a sum of them.
const (
	digit  = 1 << iota
	upper  // A-Z
	lower  // a-z
	under  // _
	dash   // -
	dot    // .
	base   // + /
	equal  // =
	tilde  // ~
	hexLow // a-f
	hexUp  // A-F
	colon  // :
	sigil  // $
	percent
	at    // @
	bang  // !
	query // ? &
)

const (
	alnum     = digit | upper | lower
	word      = alnum | under
	tokenSet  = word | dash | dot
	bearerSet = tokenSet | tilde | base | equal
	dataSet   = alnum | base | equal | under | dash
	typeSet   = alnum | dot | base | under | dash // '/' is taken out where it matters
)

var classes = makeClasses()

func makeClasses() (t [256]uint32) {
	fill := func(from, to byte, c uint32) {
		for b := from; b <= to; b++ {
			t[b] |= c
		}
	}
	fill('0', '9', digit)
	fill('A', 'Z', upper)
	fill('a', 'z', lower)
	fill('a', 'f', hexLow)
	fill('A', 'F', hexUp)
	for b, c := range map[byte]uint32{'_': under, '-': dash, '.': dot, '+': base, '/': base, '=': equal, '~': tilde, ':': colon, '$': sigil, '%': percent, '@': at, '!': bang, '?': query, '&': query} {
		t[b] |= c
	}
	return t
}

// runEnd returns the end of the run of bytes of set that starts at i.
func runEnd(s string, i int, set uint32) int {
	for i < len(s) && classes[s[i]]&set != 0 {
		i++
	}
	return i
}

// isWord is the \w of the reference: letters, marks, decimal digits,
// connectors and joiners of all scripts.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return classes[byte(r)]&word != 0
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// wordAfter reports whether the character at i is a word character.
func wordAfter(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return isWord(r)
}

// wordBefore reports whether the character that ends at i is a word character.
func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return isWord(r)
}

// blank returns the width of the white space at i that does not end a line, or 0.
func blank(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	switch b := s[i]; {
	case b == ' ' || b == '\t' || b == '\v' || b == '\f':
		return 1
	case b < utf8.RuneSelf:
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(r) {
		return n
	}
	return 0
}

func skipBlanks(s string, i int) int {
	for n := blank(s, i); n > 0; n = blank(s, i) {
		i += n
	}
	return i
}

// cutRune returns how many bytes of a cut character s ends with.
func cutRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		b := s[len(s)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
