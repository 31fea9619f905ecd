package astgrep

import (
	"fmt"
	"strings"

	"magicode/internal/syntax"
)

// maxReplacement bounds one filled rewrite in bytes: tools.md 1.14.
const maxReplacement = 1 << 20

// rewrite is a text with metavariables to fill in.
type rewrite struct{ parts []part }

// part is fixed text, or a metavariable.
type part struct {
	text string
	name string
}

// newRewrite reads a rewrite. Its metavariables must be among names.
func newRewrite(text string, names map[string]bool) (*rewrite, error) {
	r := &rewrite{}
	start := 0
	for i := 0; i < len(text); {
		n := syntax.MetaLen([]byte(text[i:]))
		if n == 0 || i > 0 && text[i-1] == '$' {
			i++
			continue
		}
		name := strings.TrimLeft(text[i:i+n], "$")
		if !names[name] {
			return nil, fmt.Errorf("the rewrite uses %s, which the pattern does not name", text[i:i+n])
		}
		r.parts = append(r.parts, part{text: text[start:i]}, part{name: name})
		i += n
		start = i
	}
	r.parts = append(r.parts, part{text: text[start:]})
	return r, nil
}

// fill makes the replacement of a match; ok is false where it would be too long.
func (r *rewrite) fill(src []byte, m match) (text string, ok bool) {
	var b strings.Builder
	for _, p := range r.parts {
		b.WriteString(p.text)
		for _, x := range m.bindings {
			if p.name != "" && x.name == p.name {
				b.Write(src[x.start:x.end])
			}
		}
		if b.Len() > maxReplacement {
			return "", false
		}
	}
	return b.String(), true
}
