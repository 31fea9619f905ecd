package preview

import (
	"strings"

	"magicode/internal/redact"
	"magicode/internal/tool"
)

// lines is a file's content. Each line stands twice: as it is compared and as it
// may be shown. Both have the same length.
type lines struct {
	raw, shown []string
	open       bool // the last line has no end
}

// split cuts a content into lines. Secrets are looked for in the whole text: one
// of several lines is not known by any of them.
func split(v tool.Version) lines {
	text := tool.Normalize(v.Data)
	if text == "" {
		return lines{}
	}
	l := lines{open: !strings.HasSuffix(text, "\n")}
	l.raw = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	l.shown = l.raw
	if safe := redact.Display(text); safe != text {
		l.shown = align(l.raw, strings.Split(strings.TrimSuffix(safe, "\n"), "\n"))
	}
	if l.open { // differs from the same line with an end
		l.raw = append(l.raw[:len(l.raw)-1:len(l.raw)-1], l.raw[len(l.raw)-1]+"\n")
	}
	return l
}

const hidden = "<redacted>"

// align gives each raw line its redacted form. Redaction never makes lines; where
// it has taken some away, all between what is equal at both ends are hidden.
func align(raw, safe []string) []string {
	if len(raw) == len(safe) {
		return safe
	}
	out := make([]string, len(raw))
	for i := range out {
		out[i] = hidden
	}
	n := min(len(raw), len(safe))
	first := 0
	for first < n && raw[first] == safe[first] {
		out[first] = raw[first]
		first++
	}
	for i := 1; i <= n-first && raw[len(raw)-i] == safe[len(safe)-i]; i++ {
		out[len(raw)-i] = raw[len(raw)-i]
	}
	return out
}
