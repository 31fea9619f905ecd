package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// Text returns a string decoded. ok is false for another kind, and for a string
// that holds half a surrogate pair.
func (v Value) Text() (text string, ok bool) {
	if b, plain := v.raw(); plain {
		return string(b), true
	}
	var buf [128]byte
	b, ok := v.AppendText(buf[:0])
	return string(b), ok
}

// LenientText is Text with U+FFFD for each half of a surrogate pair that stands
// alone, and "" for another kind.
func (v Value) LenientText() string {
	b, plain := v.raw()
	if plain {
		return string(b)
	}
	if v.Kind() != String {
		return ""
	}
	out := make([]byte, 0, len(b))
	out, _ = appendText(out, b, true)
	return string(out)
}

// AppendText appends the decoded text of a string. ok is false, and dst is
// returned as it was, where Text gives false.
func (v Value) AppendText(dst []byte) (out []byte, ok bool) {
	b, plain := v.raw()
	if plain {
		return append(dst, b...), true
	}
	if v.Kind() != String {
		return dst, false
	}
	return appendText(dst, b, false)
}

// Is reports whether v is a string equal to s.
func (v Value) Is(s string) bool {
	b, plain := v.raw()
	if plain {
		return string(b) == s
	}
	if v.Kind() != String || len(b) <= len(s) {
		return false // an escape is longer than what it stands for
	}
	for len(b) > 0 {
		var buf [4]byte
		n, size := piece(&buf, b)
		if n == 0 || len(s) < n || s[:n] != string(buf[:n]) {
			return false
		}
		b, s = b[size:], s[n:]
	}
	return s == ""
}

// IsText reports whether v is a string of which Text is true, without decoding it.
func (v Value) IsText() bool {
	b, plain := v.raw()
	for !plain && len(b) > 0 {
		j := bytes.IndexByte(b, '\\')
		if j < 0 {
			return true
		}
		var buf [4]byte
		n, size := piece(&buf, b[j:])
		if n == 0 {
			return false
		}
		b = b[j+size:]
	}
	return v.Kind() == String
}

// raw returns what stands between the quotes, and whether it is a string
// without escapes, which is its own text.
func (v Value) raw() (b []byte, plain bool) {
	if len(v) < 2 || v[0] != '"' {
		return nil, false
	}
	b = v[1 : len(v)-1]
	return b, bytes.IndexByte(b, '\\') < 0
}

// appendText decodes what stands between the quotes of a string.
func appendText(dst, b []byte, lenient bool) ([]byte, bool) {
	start := len(dst)
	for {
		j := bytes.IndexByte(b, '\\')
		if j < 0 || j == len(b)-1 {
			return append(dst, b...), true
		}
		dst, b = append(dst, b[:j]...), b[j:]
		for len(b) > 1 && b[0] == '\\' {
			if c := simple[b[1]]; c != 0 {
				dst, b = append(dst, c), b[2:]
				continue
			}
			r, size := escaped(b)
			if r < 0 {
				if !lenient {
					return dst[:start], false
				}
				r = utf8.RuneError
			}
			dst, b = utf8.AppendRune(dst, r), b[size:]
		}
	}
}

// piece decodes one byte or one escape at the start of b. It returns how many
// bytes of buf it filled, 0 for half a surrogate pair, and of b it used.
func piece(buf *[4]byte, b []byte) (n, size int) {
	if b[0] != '\\' || len(b) < 2 {
		buf[0] = b[0]
		return 1, 1
	}
	if c := simple[b[1]]; c != 0 {
		buf[0] = c
		return 1, 2
	}
	r, size := escaped(b)
	if r < 0 {
		return 0, size
	}
	return utf8.EncodeRune(buf[:], r), size
}

// escaped decodes the escape \uXXXX at the start of b, or a pair of them. r is
// -1 for half a surrogate pair.
func escaped(b []byte) (r rune, size int) {
	u := unit(b, 0)
	if u < 0 { // cannot be in a parsed value
		return -1, min(2, len(b))
	}
	if u&0xf800 != 0xd800 {
		return rune(u), 6
	}
	if u < 0xdc00 {
		if low := unit(b, 6); low >= 0 && low&^0x3ff == 0xdc00 {
			return rune(u&0x3ff<<10|low&0x3ff) + 0x10000, 12
		}
	}
	return -1, 6
}
