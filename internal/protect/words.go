package protect

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word returns the text of a word as the shell would see it. seen is false
// when a part of it is only known when the command runs.
func (w *walker) word(word *syntax.Word) (text string, seen bool) {
	var b strings.Builder
	seen = true
	for i, p := range word.Parts {
		part, ok := w.part(p, i == 0)
		b.WriteString(part)
		seen = seen && ok
	}
	return b.String(), seen
}

func (w *walker) part(p syntax.WordPart, first bool) (string, bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		text := unescape(p.Value)
		if first && (text == "~" || strings.HasPrefix(text, "~/")) && w.place.Home != "" {
			text = w.place.Home + text[1:]
		}
		return text, true
	case *syntax.SglQuoted:
		if p.Dollar {
			return ansiC(p.Value)
		}
		return p.Value, true
	case *syntax.DblQuoted:
		var b strings.Builder
		seen := true
		for _, q := range p.Parts {
			part, ok := w.part(q, false)
			b.WriteString(part)
			seen = seen && ok
		}
		return b.String(), seen
	case *syntax.ParamExp:
		if p.Param != nil && p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && !p.Excl && !p.Length {
			if v, ok := w.known[p.Param.Value]; ok {
				return v, true
			}
		}
		return "$", false
	default:
		return "$", false
	}
}

// unescape removes the backslashes of unquoted text.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the simple escapes of $'...'; others are not seen through.
func ansiC(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	out, ok := decodeANSI(s)
	return out, ok
}

func decodeANSI(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '\\', '\'', '"', '?':
			b.WriteByte(s[i])
		case 'x', '0', '1', '2', '3', '4', '5', '6', '7':
			n, used := number(s[i:])
			if used == 0 {
				return s, false
			}
			b.WriteByte(n)
			i += used - 1
		default:
			return s, false
		}
	}
	return b.String(), true
}

// number reads \xHH or \OOO behind the backslash.
func number(s string) (n byte, used int) {
	digits, radix, most := "01234567", 8, 3
	at := 0
	if s[0] == 'x' {
		digits, radix, most, at = "0123456789abcdef", 16, 2, 1
	}
	v := 0
	for used = at; used < len(s) && used-at < most; used++ {
		d := strings.IndexByte(digits, s[used]|0x20&^(s[used]>>2&0x10))
		if s[used] >= '0' && s[used] <= '9' {
			d = strings.IndexByte(digits, s[used])
		}
		if d < 0 {
			break
		}
		v = v*radix + d
	}
	if used == at {
		return 0, 0
	}
	return byte(v), used
}

// words returns the text of several words; seen is false when one is not known.
func (w *walker) words(list []*syntax.Word) (out []string, seen bool) {
	seen = true
	for _, word := range list {
		for _, brace := range expandBraces(word) {
			text, ok := w.word(brace)
			out = append(out, text)
			seen = seen && ok
		}
	}
	return out, seen
}

func expandBraces(word *syntax.Word) []*syntax.Word {
	if !strings.Contains(literalOf(word), "{") {
		return []*syntax.Word{word}
	}
	cp := *word
	if !syntax.SplitBraces(&cp) {
		return []*syntax.Word{word}
	}
	return expandAll(&cp)
}

func literalOf(word *syntax.Word) string {
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return l.Value
		}
	}
	return ""
}

// maxBraceWords bounds what a brace expression may become here.
const maxBraceWords = 64

func expandAll(word *syntax.Word) []*syntax.Word {
	for i, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if b.Sequence {
			return []*syntax.Word{word} // numbers or letters: no path of interest
		}
		var out []*syntax.Word
		for _, e := range b.Elems {
			next := &syntax.Word{Parts: append(append(append([]syntax.WordPart{}, word.Parts[:i]...), e.Parts...), word.Parts[i+1:]...)}
			out = append(out, expandAll(next)...)
			if len(out) > maxBraceWords {
				return out[:maxBraceWords]
			}
		}
		return out
	}
	return []*syntax.Word{word}
}

// base is the program's name without its folder.
func base(name string) string { return path.Base(name) }

// operands are the arguments that are no options.
func operands(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if strings.HasPrefix(a, "-") && a != "-" {
			continue
		}
		out = append(out, a)
	}
	return out
}

// flag reports whether one of the options is given: long ones whole or with a
// value, one-letter ones also inside a cluster.
func flag(args []string, names ...string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		for _, n := range names {
			switch {
			case a == n, strings.HasPrefix(n, "--") && strings.HasPrefix(a, n+"="):
				return true
			case len(n) == 2 && len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], n[1:]):
				return true
			}
		}
	}
	return false
}
