package transcript

import (
	"strings"

	"magicode/internal/provider/body"
)

// Arguments makes one JSON value of the arguments of a call as they arrived:
// blank text is {}, and white space and any number of {} behind a value are
// dropped. ok is false, and the text is returned as it is, when it is no JSON;
// then the call fails as a call (providers.md 11.4, decision 8). Halves of
// surrogate pairs become U+FFFD (decision 14).
func Arguments(text string) (args string, ok bool) {
	trimmed := strings.TrimSpace(text)
	base := trimmed
	for strings.HasSuffix(base, "{}") {
		base = strings.TrimRight(base[:len(base)-2], " \t\r\n")
	}
	if base == "" {
		return "{}", true
	}
	if _, err := body.Parse([]byte(base)); err != nil {
		return text, false
	}
	return WholePairs(base), true
}

// WholePairs replaces the escapes of lone surrogates in JSON text.
func WholePairs(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			i++
			continue
		}
		u := unit(s, i)
		switch {
		case u < 0:
			i += 2
		case u < 0xd800 || u > 0xdfff:
			i += 6
		case u < 0xdc00 && unit(s, i+6)&^0x3ff == 0xdc00:
			i += 12
		default:
			if out == nil {
				out = []byte(s)
			}
			copy(out[i:], `\ufffd`)
			i += 6
		}
	}
	if out == nil {
		return s
	}
	return string(out)
}

// unit is the UTF-16 unit of the escape at i, or -1.
func unit(s string, i int) int {
	if len(s)-i < 6 || s[i] != '\\' || s[i+1] != 'u' {
		return -1
	}
	n := 0
	for _, c := range []byte(s[i+2 : i+6]) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}
