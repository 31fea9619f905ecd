package protect

import "strings"

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

// flag reports whether one of the options is given: long ones whole, shortened
// as getopt allows or with a value, one-letter ones also inside a cluster.
func flag(args []string, names ...string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		for _, n := range names {
			if isOption(a, n) {
				return true
			}
		}
	}
	return false
}

func isOption(a, n string) bool {
	if a == n {
		return true
	}
	if strings.HasPrefix(n, "--") {
		word, _, _ := strings.Cut(a, "=")
		return word == n || len(word) > 4 && strings.HasPrefix(n, word)
	}
	return len(n) == 2 && len(a) > 2 && a[1] != '-' && strings.Contains(a[1:], n[1:])
}

// values returns the values of an option, in every way it may be written:
// apart, behind =, or glued to a single letter, also at the end of a cluster.
func values(args []string, names ...string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			break
		}
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		for _, n := range names {
			if v, ok := optionValue(a, n, next); ok {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

func optionValue(a, n, next string) (string, bool) {
	switch {
	case a == n:
		return next, true
	case strings.HasPrefix(n, "--"):
		word, v, ok := strings.Cut(a, "=")
		if word == n || len(word) > 4 && strings.HasPrefix(n, word) {
			if !ok {
				v = next
			}
			return v, true
		}
	case len(n) == 2 && len(a) > 2 && a[0] == '-' && a[1] != '-':
		if at := strings.IndexByte(a[1:], n[1]); at == 0 {
			return strings.TrimPrefix(a[2:], "="), true
		} else if at == len(a)-2 {
			return next, true
		}
	}
	return "", false
}
