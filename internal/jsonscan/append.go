package jsonscan

import (
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string in quotes. It escapes the quote, the
// backslash, control characters, and U+2028 and U+2029 (decision 14); each byte
// of invalid UTF-8 becomes U+FFFD; nothing else is escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := unescaped(s, 0); i < len(s); i = unescaped(s, i) {
		size, width := measure(s, i)
		if size != width {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, s[i:i+size])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// unescaped returns the index of the first byte at or after i that is not
// printable ASCII which stands for itself, or len(s).
func unescaped(s string, i int) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for len(b)-i >= 8 {
		w := load(b, i)
		if m := (special(w) | w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && b[i] < utf8.RuneSelf && widths[b[i]] == 1 {
		i++
	}
	return i
}

// measure returns the bytes that the character at i takes in s and on the
// wire. They are equal if and only if it is copied as it is.
func measure(s string, i int) (size, width int) {
	c := s[i]
	if c < utf8.RuneSelf {
		return 1, int(widths[c])
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size == 1:
		return 1, 3
	case r == 0x2028 || r == 0x2029:
		return size, 6
	}
	return size, size
}

func appendEscape(dst []byte, s string) []byte {
	switch c := s[0]; c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		if c < ' ' {
			return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	if len(s) == 1 {
		return append(dst, "\uFFFD"...)
	}
	return append(dst, '\\', 'u', '2', '0', '2', hexDigits[s[2]&15]) // E2 80 A8, E2 80 A9
}

// widths holds how many bytes each ASCII character takes in a JSON string.
var widths = [utf8.RuneSelf]byte{
	6, 6, 6, 6, 6, 6, 6, 6, 2, 2, 2, 6, 2, 2, 6, 6,
	6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
	1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}
