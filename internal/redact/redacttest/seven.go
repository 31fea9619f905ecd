package redacttest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mark = "<redacted>"

const names = `(?:authorization|bearer|credentials?|(?:aws[_-])?secret[_-]access[_-]key|(?:aws[_-])?session[_-]token|secret[_-]key|(?:exa[_-]?)?api[_-]?key|` +
	`password|passwd|secret|token|access[_-]?token|refresh[_-]?token|auth[_-]?token|id[_-]?token|client[_-]?secret|account[_-]?id|chatgpt-account-id)`

// The seven rules of storage.md 11.1, in their order. With \b they are the
// plain form that benchmarks compare with; Go's \b and \s know ASCII only.
var plain = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)-----END [A-Z ]*PRIVATE KEY-----`), mark},
	{regexp.MustCompile(`data:[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_-]+;base64,[A-Za-z0-9+/=_-]+`), "data:" + mark + ";base64," + mark},
	{regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}\b`), mark},
	{regexp.MustCompile(`\bA[KS]IA[0-9A-Z]{16}\b`), mark},
	{regexp.MustCompile(`\b(?:sk-|eyJ)[A-Za-z0-9_.-]+\b`), mark},
	{regexp.MustCompile(`(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}`), "${1}" + mark},
	{regexp.MustCompile(`(?i)(["']?\b` + names + `\b["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s,;}]+)`), "${1}" + mark},
}

// PlainSeven is the plain seven-regexp form.
func PlainSeven(s string) string {
	for _, r := range plain {
		s = r.re.ReplaceAllString(s, r.with)
	}
	return s
}

// rule is a rule whose word boundaries are looked at by hand.
type rule struct {
	re     *regexp.Regexp // group 1 is kept, and starts where a word must start
	behind bool           // a boundary must follow
	trim   bool           // the match may give back characters for it
}

const blank = `[\t\v\f\x{85}\p{Z}]*`

var exact = []rule{
	{re: regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)-----END [A-Z ]*PRIVATE KEY-----`)},
	{re: regexp.MustCompile(`()data:[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_-]+;base64,[A-Za-z0-9+/=_-]+`)},
	{re: regexp.MustCompile(`()(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`), behind: true},
	{re: regexp.MustCompile(`()A[KS]IA[0-9A-Z]{16}`), behind: true},
	{re: regexp.MustCompile(`()(?:sk-|eyJ)[A-Za-z0-9_.-]+`), behind: true, trim: true},
	{re: regexp.MustCompile(`((?i:bearer)[\t\v\f\x{85}\p{Z}]+)[A-Za-z0-9._~+/=-]{8,}`)},
	{re: regexp.MustCompile(`((?i:` + names + `)["']?` + blank + `[:=]` + blank + `)(?:"[^"\n]*"|'[^'\n]*'|[^\s\x{85}\p{Z},;}]+)`)},
}

// Seven applies the seven rules to one line: all that line ends do to them, and
// decision 33, is left out.
func Seven(line string) string {
	for k, r := range exact {
		line = r.apply(line, k)
	}
	return line
}

func (r rule) apply(s string, number int) string {
	var out strings.Builder
	last := 0
	for at := 0; at <= len(s); {
		m := r.re.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		start, keep, end := at+m[0], at+m[3], at+m[1]
		ok := number < 2 || wordBoundary(s, start)
		for r.trim && end > keep+4 && !wordBoundary(s, end) {
			end--
		}
		if !ok || r.behind && !wordBoundary(s, end) {
			_, n := utf8.DecodeRuneInString(s[start:])
			at = start + max(n, 1)
			continue
		}
		out.WriteString(s[last:keep])
		if number == 1 {
			out.WriteString("data:" + mark + ";base64,")
		}
		out.WriteString(mark)
		last, at = end, end
	}
	out.WriteString(s[last:])
	return out.String()
}

func wordBoundary(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return (i > 0 && wordRune(before)) != (i < len(s) && wordRune(after))
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Pc, r) ||
		unicode.Is(unicode.Other_Alphabetic, r) || unicode.Is(unicode.Join_Control, r)
}
