package redact

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Strip removes escape sequences and control characters except LF and TAB and
// folds CR LF and CR to LF (storage.md 11.2). An unterminated sequence swallows
// the rest.
func Strip(s string) string {
	var p Stripper
	out := p.Write(s)
	if rest := p.Flush(); rest != "" {
		out += rest
	}
	return out
}

// Where a Stripper stands between two characters.
type stripState uint8

const (
	plain     stripState = iota
	afterCR              // an LF that follows belongs to the CR
	afterESC             // the next character decides
	inCSI                // up to the first of '@'-'~'
	inString             // up to BEL or ESC \
	stringESC            // an ESC inside a string
)

// Stripper is Strip with its state carried across pieces. Its zero value is ready.
type Stripper struct {
	state stripState
	held  string // the cut character at the end of the last piece
}

// Write returns the visible part of the next piece. It returns s itself when
// nothing is removed.
func (p *Stripper) Write(s string) string {
	if p.held != "" {
		s, p.held = p.held+s, ""
	}
	if n := cutRune(s); n > 0 {
		s, p.held = s[:len(s)-n], s[len(s)-n:]
	}
	if p.state == plain {
		i := firstControl(s)
		if i == len(s) {
			return s
		}
		return p.strip(s[:i], s[i:])
	}
	return p.strip("", s)
}

// Flush returns what Write held back: the bytes of a character that was never
// completed. The Stripper is then as new.
func (p *Stripper) Flush() string {
	held := p.held
	if p.state > afterCR {
		held = ""
	}
	*p = Stripper{}
	return held
}

// firstControl returns the place of the first character that Strip may not
// leave as it is.
func firstControl(s string) int {
	i := 0
	for i+8 <= len(s) {
		p := s[i : i+8]
		v := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 | uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		t := v & lows
		control := ^(t+0x60*ones)&^(is(t, '\n')|is(t, '\t')) | is(t, 0x7f)
		found := (control&^v | is(t, 0xc2&0x7f)&v) & highs
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if s[i] != 0xc2 || isC1(s, i) {
			return i
		}
		i++
	}
	for ; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b == 0x7f || b == 0xc2 && isC1(s, i) {
			return i
		}
	}
	return len(s)
}

func isC1(s string, i int) bool {
	return i+1 < len(s) && s[i+1] >= 0x80 && s[i+1] < 0xa0
}

func (p *Stripper) strip(head, s string) string {
	var out strings.Builder
	out.Grow(len(head) + len(s))
	out.WriteString(head)
	for i := 0; i < len(s); {
		if p.state == plain {
			n := firstControl(s[i:])
			out.WriteString(s[i : i+n])
			if i += n; i == len(s) {
				break
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if p.step(r) {
			if r == '\r' {
				out.WriteByte('\n')
			} else {
				out.WriteString(s[i : i+n])
			}
		}
		i += n
	}
	return out.String()
}

// step takes one character and reports whether it shows; a CR shows as LF.
func (p *Stripper) step(r rune) bool {
	switch p.state {
	case afterESC:
		switch r {
		case '[':
			p.state = inCSI
		case ']', 'P', '^', '_', 'X':
			p.state = inString
		default:
			p.state = plain
		}
		return false
	case inCSI:
		if r >= '@' && r <= '~' {
			p.state = plain
		}
		return false
	case stringESC:
		p.state = inString
		if r == '\\' || r == '\a' {
			p.state = plain
		} else if r == 0x1b {
			p.state = stringESC
		}
		return false
	case inString:
		if r == '\a' {
			p.state = plain
		} else if r == 0x1b {
			p.state = stringESC
		}
		return false
	}
	return p.show(r)
}

func (p *Stripper) show(r rune) bool {
	cr := p.state == afterCR
	p.state = plain
	switch {
	case r == 0x1b:
		p.state = afterESC
		return false
	case r == '\r':
		p.state = afterCR
		return true
	case r == '\n':
		return !cr
	}
	return r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0
}
