package protect

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape removes backslashes: before any character, or, inside double
// quotes, before those of only.
func unescape(s, only string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the escapes of $'...', echo -e and printf; a control sequence
// it does not know becomes a mark.
func ansiC(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte("abefnrtv\\'\"?E", s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\\'\"?\x1b"[at])
			continue
		}
		r, used := number(s[i:])
		if used == 0 {
			b.WriteString(hidden)
			continue
		}
		if c := s[i]; c == 'u' || c == 'U' {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		i += used - 1
	}
	return b.String()
}

// number reads xHH, uHHHH, UHHHHHHHH or OOO behind the backslash.
func number(s string) (r rune, used int) {
	base, most, at := 8, 3, 0
	switch s[0] {
	case 'x':
		base, most, at = 16, 2, 1
	case 'u':
		base, most, at = 16, 4, 1
	case 'U':
		base, most, at = 16, 8, 1
	case '0':
		most = 4
	}
	end := at
	for end < len(s) && end-at < most {
		if _, err := strconv.ParseUint(s[at:end+1], base, 32); err != nil {
			break
		}
		end++
	}
	v, err := strconv.ParseUint(s[at:end], base, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), end
}
