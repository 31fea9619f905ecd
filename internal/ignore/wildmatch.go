package ignore

import "strings"

// verdict is what a match attempt found out. The two abort values let an outer
// star stop trying: no later position can match either.
type verdict uint8

const (
	noMatch verdict = iota
	match
	abortAll        // the text ran out
	abortToStarStar // a "/" stopped a single star
)

// wildmatch matches a whole text as git does. With path set, "*", "?" and
// brackets do not match "/", and "**" between slashes does.
func wildmatch(pattern, text string, path bool) bool {
	return wild(pattern, text, path) == match
}

func wild(pattern, text string, path bool) verdict {
	p, t := 0, 0
	for ; p < len(pattern); p, t = p+1, t+1 {
		c := pattern[p]
		if t == len(text) && c != '*' {
			return abortAll
		}
		switch c {
		case '\\':
			p++
			if p == len(pattern) || text[t] != pattern[p] {
				return noMatch
			}
		case '?':
			if path && text[t] == '/' {
				return noMatch
			}
		case '*':
			v, next, ok := star(pattern, p, text[t:], path)
			if !ok {
				return v
			}
			p, t = next, t+strings.IndexByte(text[t:], '/')
		case '[':
			in, end, ok := bracket(pattern[p:], text[t])
			if !ok {
				return abortAll
			}
			if !in || path && text[t] == '/' {
				return noMatch
			}
			p += end
		default:
			if text[t] != c {
				return noMatch
			}
		}
	}
	if t < len(text) {
		return noMatch
	}
	return match
}

// star matches from a run of stars on. ok means: the run was one star before a
// slash, the caller goes on at the next slash of both.
func star(pattern string, p int, text string, path bool) (v verdict, next int, ok bool) {
	first := p
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	rest := pattern[p:]
	slashes := !path
	if p-first > 1 && path {
		atStart := first == 0 || pattern[first-1] == '/'
		if atStart && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
			if rest != "" && rest[0] == '/' && wild(rest[1:], text, path) == match {
				return match, 0, false
			}
			slashes = true
		}
	}
	if rest == "" {
		if !slashes && strings.IndexByte(text, '/') >= 0 {
			return abortToStarStar, 0, false
		}
		return match, 0, false
	}
	if !slashes && rest[0] == '/' {
		if strings.IndexByte(text, '/') < 0 {
			return abortAll, 0, false
		}
		return 0, p, true
	}
	return starTail(rest, text, path, slashes), 0, false
}

// starTail tries every place at which the star may end.
func starTail(rest, text string, path, slashes bool) verdict {
	for i := 0; i < len(text); i++ {
		// A literal after the star: only places where it stands can match.
		if c := rest[0]; c != '*' && c != '?' && c != '[' && c != '\\' {
			j := strings.IndexByte(text[i:], c)
			if !slashes {
				if k := strings.IndexByte(text[i:], '/'); k >= 0 && (j < 0 || k < j) {
					return abortToStarStar
				}
			}
			if j < 0 {
				return abortAll
			}
			i += j
		}
		if v := wild(rest, text[i:], path); v != noMatch {
			if !slashes || v != abortToStarStar {
				return v
			}
		} else if !slashes && text[i] == '/' {
			return abortToStarStar
		}
	}
	return abortAll
}

// bracket matches one bracket expression at the start of pattern against a
// byte. end is the index of the closing bracket; ok is false without one, and
// for an unknown class.
func bracket(pattern string, c byte) (in bool, end int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	var prev byte // 0: no range may start here
	for first := true; ; first = false {
		if i >= len(pattern) {
			return false, 0, false
		}
		p := pattern[i]
		if p == ']' && !first {
			return in != negated, i, true
		}
		switch {
		case p == '\\':
			i++
			if i == len(pattern) {
				return false, 0, false
			}
			p = pattern[i]
			in = in || c == p
			prev = p
		case p == '-' && prev != 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			i++
			if pattern[i] == '\\' {
				i++
				if i == len(pattern) {
					return false, 0, false
				}
			}
			in = in || c >= prev && c <= pattern[i]
			prev = 0
		case p == '[' && i+1 < len(pattern) && pattern[i+1] == ':':
			hit, skip, state := class(pattern[i:], c)
			if state == classBad {
				return false, 0, false
			}
			if state == classNone {
				in = in || c == '['
				prev = '['
				break
			}
			in, prev = in || hit, 0
			i += skip
		default:
			in = in || c == p
			prev = p
		}
		i++
	}
}

type classState uint8

const (
	classOK   classState = iota
	classNone            // no ":]": an ordinary set that holds "["
	classBad             // unterminated, or an unknown name
)

// class reads "[:name:]". skip is the index of its closing bracket.
func class(pattern string, c byte) (hit bool, skip int, state classState) {
	end := strings.IndexByte(pattern[2:], ']')
	if end < 0 {
		return false, 0, classBad
	}
	name := pattern[2 : 2+end]
	if name == "" || name[len(name)-1] != ':' {
		return false, 0, classNone
	}
	upper, lower := c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z'
	digit := c >= '0' && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name[:len(name)-1] {
	case "alnum":
		hit = upper || lower || digit
	case "alpha":
		hit = upper || lower
	case "blank":
		hit = c == ' ' || c == '\t'
	case "cntrl":
		hit = c < ' ' || c == 0x7f
	case "digit":
		hit = digit
	case "graph":
		hit = graph
	case "lower":
		hit = lower
	case "print":
		hit = graph || c == ' '
	case "punct":
		hit = graph && !upper && !lower && !digit
	case "space":
		hit = c == ' ' || c >= '\t' && c <= '\r'
	case "upper":
		hit = upper
	case "xdigit":
		hit = digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	default:
		return false, 0, classBad
	}
	return hit, 2 + end, classOK
}
