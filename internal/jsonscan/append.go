package jsonscan

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string in quotes. It escapes the quote, the
// backslash, control characters, and U+2028 and U+2029 (decision 14); invalid
// UTF-8 becomes U+FFFD; nothing else is escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		size, width := measure(s, i)
		if size == width {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, s[i:i+size])
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// EscapedLen returns the number of bytes between the quotes of AppendString.
func EscapedLen(s string) int {
	n := 0
	for i := 0; i < len(s); {
		size, width := measure(s, i)
		i += size
		n += width
	}
	return n
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
