package jsonscan

import "math/bits"

// word looks at the 8 bytes at i as special does. If there is no byte behind
// them, the first one is special.
func word(data []byte, i int) uint64 {
	if len(data)-i <= 8 {
		return highs
	}
	return special(load(data, i))
}

// plain returns the index of the first special byte at or after i, or len(data).
func plain(data []byte, i int) int {
	for len(data)-i >= 32 {
		a, b := special(load(data, i)), special(load(data, i+8))
		c, d := special(load(data, i+16)), special(load(data, i+24))
		if a|b|c|d != 0 {
			return i + first(a, b, c, d)
		}
		i += 32
	}
	for len(data)-i >= 8 {
		if m := special(load(data, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	return plainTail(data, i)
}

func plainTail(data []byte, i int) int {
	for ; i < len(data); i++ {
		if c := data[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// str scans the rest of a string, of which everything before i is scanned, and
// returns the index behind its closing quote.
func (s *scanner) str(i int) int {
	data := s.data
	for {
		i = plain(data, i)
		if i >= len(data) {
			return s.failInString(ErrSyntax, i)
		}
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			if i = s.escape(i); i < 0 {
				return -1
			}
		default:
			return s.failInString(ErrSyntax, i)
		}
	}
}

// escape scans the escapes that follow one another from i on.
func (s *scanner) escape(i int) int {
	data := s.data
	for i < len(data) && data[i] == '\\' {
		if i+1 >= len(data) {
			return s.failInString(ErrSyntax, i)
		}
		if simple[data[i+1]] != 0 {
			i += 2
			continue
		}
		r := unit(data, i)
		switch {
		case r < 0:
			return s.failInString(ErrSyntax, i)
		case r&0xf800 != 0xd800 || s.LoneSurrogates:
			i += 6
		case r >= 0xdc00 || unit(data, i+6)&^0x3ff != 0xdc00:
			return s.failInString(ErrSurrogate, i)
		default:
			i += 12
		}
	}
	return i
}

// unit returns the UTF-16 unit of the escape \uXXXX at i, or -1.
func unit(data []byte, i int) int {
	if len(data)-i < 6 || data[i] != '\\' || data[i+1] != 'u' {
		return -1
	}
	a, b, c, d := hex[data[i+2]], hex[data[i+3]], hex[data[i+4]], hex[data[i+5]]
	if (a|b|c|d)&0xf0 != 0 {
		return -1
	}
	return int(a)<<12 | int(b)<<8 | int(c)<<4 | int(d)
}

// simple maps the byte behind a backslash to what it stands for, but for u.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex maps a hexadecimal digit to its value and everything else to no.
var hex = [256]byte{
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, no, no, no, no, no, no,
	no, 10, 11, 12, 13, 14, 15, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, 10, 11, 12, 13, 14, 15, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
	no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no,
}

const no = 0xff
