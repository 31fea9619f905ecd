package ignore

import (
	"strings"
)

// maxRulesFile bounds one file of rules; a larger one counts as absent.
const maxRulesFile = 1 << 20

// decision is what rules say about a path.
type decision uint8

const (
	unknown  decision = iota
	included          // by a negated rule
	excluded
)

// rule is one line of a file of rules.
type rule struct {
	pattern  string // without "!", the trailing "/" and, if anchored, a leading "/"
	literal  int    // bytes at its start that hold no special character
	negative bool
	dirOnly  bool
	anywhere bool // no "/" in it: matches the last component at any depth
	suffix   bool // "*" and a literal: matches by its end
}

// list holds the rules of one file. Literal names and suffixes are looked up in
// maps, since a file often holds hundreds; the others are tried in turn.
type list struct {
	rules []rule
	names map[string][]int32 // of the anywhere rules that are literal
	exts  map[string][]int32 // of the suffix rules, by what follows the last dot
	rest  []int32
}

// parseList reads a file of rules. It returns nil if there is none in it.
func parseList(data string) *list {
	l := &list{}
	data = strings.TrimPrefix(data, "\xef\xbb\xbf")
	for line := range strings.SplitSeq(data, "\n") {
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			l.add(r)
		}
	}
	if len(l.rules) == 0 {
		return nil
	}
	return l
}

func (l *list) add(r rule) {
	i := int32(len(l.rules))
	l.rules = append(l.rules, r)
	switch dot := strings.LastIndexByte(r.pattern, '.'); {
	case r.anywhere && r.literal == len(r.pattern):
		if l.names == nil {
			l.names = make(map[string][]int32)
		}
		l.names[r.pattern] = append(l.names[r.pattern], i)
	case r.anywhere && r.suffix && dot > 0:
		if l.exts == nil {
			l.exts = make(map[string][]int32)
		}
		ext := r.pattern[dot:]
		l.exts[ext] = append(l.exts[ext], i)
	default:
		l.rest = append(l.rest, i)
	}
}

// parseRule reads one line without its end. A NUL ends it, as it does in C.
func parseRule(line string) (rule, bool) {
	line, _, _ = strings.Cut(line, "\x00")
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	line = trimBlanks(line)
	var r rule
	if strings.HasPrefix(line, "!") {
		r.negative, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, line[:len(line)-1]
	}
	if line == "" {
		return rule{}, false
	}
	r.anywhere = strings.IndexByte(line, '/') < 0
	if i := strings.IndexAny(line, `*?[\`); i >= 0 {
		r.literal = i
		r.suffix = line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`)
	} else {
		r.literal = len(line)
	}
	if line[0] == '/' {
		line = line[1:]
		r.literal--
	}
	r.pattern = line
	return r, true
}

// trimBlanks drops trailing spaces that no backslash protects.
func trimBlanks(s string) string {
	end := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
		case '\\':
			i++
			if i == len(s) {
				return s
			}
			end = -1
		default:
			end = -1
		}
	}
	if end < 0 {
		return s
	}
	return s[:end]
}

// decide finds the last rule that matches. path is relative to the directory of
// the rules, name its last component.
func (l *list) decide(path, name string, dir bool) decision {
	best := int32(-1)
	best = l.last(l.names[name], best, path, name, dir)
	if l.exts != nil {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = l.last(l.exts[name[dot:]], best, path, name, dir)
		}
	}
	best = l.last(l.rest, best, path, name, dir)
	switch {
	case best < 0:
		return unknown
	case l.rules[best].negative:
		return included
	}
	return excluded
}

// last returns the greatest index of the candidates that matches, or best.
func (l *list) last(candidates []int32, best int32, path, name string, dir bool) int32 {
	for i := len(candidates) - 1; i >= 0 && candidates[i] > best; i-- {
		if l.rules[candidates[i]].matches(path, name, dir) {
			return candidates[i]
		}
	}
	return best
}

func (r *rule) matches(path, name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.anywhere {
		switch {
		case r.literal == len(r.pattern):
			return name == r.pattern
		case r.suffix:
			return strings.HasSuffix(name, r.pattern[1:])
		}
		return wildmatch(r.pattern, name, false)
	}
	// The literal start is compared and taken off first, as git does: what
	// follows it counts as the start of a pattern, also for "**".
	if !strings.HasPrefix(path, r.pattern[:r.literal]) {
		return false
	}
	if r.literal == len(r.pattern) {
		return len(path) == r.literal
	}
	return wildmatch(r.pattern[r.literal:], path[r.literal:], true)
}
