package replay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// Bounds of replayed tool outputs and recovery notes, in characters (runner.md 25).
const (
	maxOutputChars  = 24_000
	keptOutputChars = 6_000
	maxNoteChars    = 12_000
	maxFieldChars   = 4_000
	maxKindChars    = 64
)

func isBlank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

func numbered(id string, n int) string {
	if id == "" {
		id = "call"
	}
	return id + "-" + strconv.Itoa(n)
}

// argumentText is the JSON text of stored arguments. A call whose arguments
// were no JSON is stored with them as a string, and sent as it was (decision 8).
func argumentText(v jsonscan.Value) string {
	switch v.Kind() {
	case jsonscan.Invalid:
		return "{}"
	case jsonscan.String:
		return v.LenientText()
	default:
		return string(v)
	}
}

// shorten keeps both ends of a long output of an earlier turn; or, with a limit
// above 0, that many characters of its beginning.
func shorten(tool, content string, limit int) string {
	if limit > 0 {
		if head := cutRunes(content, limit); len(head) < len(content) {
			return head + "\n[... cut ...]"
		}
		return content
	}
	if len(content) <= maxOutputChars {
		return content
	}
	n := utf8.RuneCountInString(content)
	if n <= maxOutputChars {
		return content
	}
	head, tail := cutRunes(content, keptOutputChars), lastRunes(content, keptOutputChars)
	return fmt.Sprintf("[Output of %s from an earlier turn: %d characters, shortened to the first and last %d.]\n%s\n[... %d characters left out ...]\n%s",
		tool, n, keptOutputChars, head, n-2*keptOutputChars, tail)
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

func orphanNote(tool, text string) string {
	return fmt.Sprintf("[A result of %s without its call was recorded:]\n%s", tool, cutRunes(text, maxFieldChars))
}

func checkpointMessage(summary string) provider.Item {
	return userItem("The conversation up to here was compacted. This is its summary; go on from it:\n\n" + summary)
}

// evidenceNote tells the model what the compacted part did to the machine
// (tools.md 8.6). Only recorded results count, never the model's own text.
func evidenceNote(v jsonscan.Value) string {
	mutations, okM := v.Get("mutation_calls").Uint64()
	shells, okS := v.Get("shell_calls").Uint64()
	incomplete, _ := v.Get("incomplete").Bool()
	if v.Kind() != jsonscan.Object || !okM || !okS {
		mutations, shells, incomplete = 0, 0, true
	}
	if mutations == 0 && shells == 0 && !incomplete {
		return ""
	}
	var b strings.Builder
	b.WriteString("[Recorded evidence of the compacted part; not written by the model]\n")
	fmt.Fprintf(&b, "Calls that changed files: %d. Shell commands run: %d.\n", mutations, shells)
	for s := range v.Get("samples").Elements() {
		fmt.Fprintf(&b, "- %s\n", s.Get("path").LenientText())
	}
	if incomplete {
		b.WriteString("This evidence is incomplete: more may have been changed than is listed.\n")
	}
	b.WriteString("[End of recorded evidence]")
	return b.String()
}
