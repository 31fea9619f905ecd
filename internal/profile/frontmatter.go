package profile

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// fault is what is wrong with a profile's text.
type fault struct {
	key    string
	line   int
	reason string
}

// field is one key of a front matter.
type field struct {
	value string // trimmed, one pair of quotes removed
	raw   string // trimmed only
	items []string
	line  int
	twice bool
	block bool // items come from a block list
}

// matter is a parsed profile file.
type matter struct {
	fields map[string]field
	body   string
}

const fence = "---\n"

// parseMatter splits a file into its flat front matter and its body. The
// delimiters are exactly "---\n" at the start and "\n---\n" after the keys; the
// body may not be blank. It is no YAML: lines are `key: value`, lines that begin
// with white space belong to a list under the key above or are skipped.
func parseMatter(data []byte) (matter, *fault) {
	if !utf8.Valid(data) {
		return matter{}, &fault{reason: "is not UTF-8"}
	}
	rest, ok := bytes.CutPrefix(data, []byte(fence))
	if !ok {
		return matter{}, &fault{line: 1, reason: "does not start with a front matter"}
	}
	head, body, ok := bytes.Cut(rest, []byte("\n"+fence))
	if !ok {
		return matter{}, &fault{line: 1, reason: "has a front matter without an end"}
	}
	m := matter{fields: map[string]field{}, body: string(body)}
	if strings.TrimSpace(m.body) == "" {
		return m, &fault{reason: "has no text below the front matter"}
	}
	return m, m.lines(string(head))
}

func (m *matter) lines(head string) *fault {
	last := ""
	for i, line := range strings.Split(head, "\n") {
		n := i + 2 // the fence is line 1
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] == ' ' || line[0] == '\t' || line == "-" || strings.HasPrefix(line, "- "):
			if f := m.item(last, strings.TrimSpace(line), n); f != nil {
				return f
			}
		default:
			key, value, ok := strings.Cut(line, ":")
			if !ok {
				return &fault{line: n, reason: "is no key: value line"}
			}
			last = strings.TrimSpace(key)
			m.set(last, strings.TrimSpace(value), n)
		}
	}
	return nil
}

// set takes the last of repeated keys, and remembers that there were more.
func (m *matter) set(key, raw string, line int) {
	_, twice := m.fields[key]
	m.fields[key] = field{value: unquote(raw), raw: raw, line: line, twice: twice}
}

// listKey is the one key whose indented lines count.
const listKey = "disabled_tools"

func (m *matter) item(key, line string, n int) *fault {
	if key != listKey {
		return nil
	}
	f := m.fields[key]
	item, ok := strings.CutPrefix(line, "-")
	if !ok || f.raw != "" {
		return &fault{key: key, line: n, reason: "is no list item"}
	}
	f.items, f.block = append(f.items, strings.TrimSpace(item)), true
	m.fields[key] = f
	return nil
}

// unquote removes one pair of equal quotes around s.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// list gives the items of a block list or of `[a, "b"]`. It knows neither
// comments nor backslashes.
func (f field) list() (items []string, reason string) {
	items = f.items
	if !f.block {
		inner, ok := strings.CutPrefix(f.raw, "[")
		if ok {
			inner, ok = strings.CutSuffix(inner, "]")
		}
		if !ok {
			return nil, "is no list"
		}
		if strings.TrimSpace(inner) == "" {
			return nil, ""
		}
		items = strings.Split(inner, ",")
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		item = strings.TrimSpace(item)
		bare := unquote(item)
		if bare == "" || strings.ContainsAny(bare, `"'\#[],`) {
			return nil, "has an item that is no plain name"
		}
		out = append(out, bare)
	}
	return out, ""
}
