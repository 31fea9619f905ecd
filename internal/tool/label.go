package tool

import (
	"strconv"
	"strings"
	"unicode"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// lenient lets a label be made from whatever a provider sent.
var lenient = jsonscan.Options{LoneSurrogates: true, AnyNumber: true}

// Label returns what a call is called in activities, history and approvals
// (storage.md 7.2, tools.md 2.1): the name as it was sent and what the call is
// about. arguments is one JSON value; text that is none, or a value that is no
// object, gives the bare name. Only string arguments count. The label is
// redacted and has no length limit here (whoever shows it bounds it); only read
// labels are free of line feeds.
func Label(name string, arguments []byte) string {
	args, err := jsonscan.Parse(arguments, lenient)
	if err != nil || args.Kind() != jsonscan.Object {
		return redact.Text(name)
	}
	label := name
	if sep, text, ok := subject(name, args); ok {
		label += sep + text
	}
	if name == "read" {
		return strings.Map(dropControl, redact.Display(label))
	}
	return redact.Stored(label)
}

// subject returns what follows the name and what stands between the two; ok is
// false when the arguments name nothing.
func subject(name string, args jsonscan.Value) (sep, text string, ok bool) {
	sep = " "
	switch name {
	case "bash", "shell":
		text, ok = firstText(args, "command", "cmd")
	case "write", "hash_edit", "list_files":
		text, ok = firstText(args, "path")
	case "read", "view_image":
		if text, ok = firstText(args, "path"); !ok {
			text, ok = counted(args.Get("paths"), "file")
		}
	case "grep", "ffgrep":
		if text, ok = joinedTexts(args.Get("patterns")); !ok {
			text, ok = firstText(args, "pattern")
		}
	case "ast_grep":
		text, ok = firstText(args, "pattern")
	case "find", "fffind", "web":
		text, ok = firstText(args, "query")
	case "subagents":
		sep = " · "
		text, ok = counted(args.Get("tasks"), "task")
	case "magi_control":
		text, ok = firstText(args, "action")
	}
	return sep, text, ok
}

// firstText returns the first of the named arguments that is a string.
func firstText(args jsonscan.Value, names ...string) (string, bool) {
	for _, n := range names {
		if v := args.Get(n); v.Kind() == jsonscan.String {
			return v.LenientText(), true
		}
	}
	return "", false
}

// joinedTexts joins the strings of an array; false when there are none.
func joinedTexts(v jsonscan.Value) (string, bool) {
	if v.Kind() != jsonscan.Array {
		return "", false
	}
	var texts []string
	for e := range v.Elements() {
		if e.Kind() == jsonscan.String {
			texts = append(texts, e.LenientText())
		}
	}
	return strings.Join(texts, ", "), len(texts) > 0
}

// counted tells the length of an array, "1 file" or "3 files"; false when v is none.
func counted(v jsonscan.Value, unit string) (string, bool) {
	if v.Kind() != jsonscan.Array {
		return "", false
	}
	n := 0
	for range v.Elements() {
		n++
	}
	if n == 1 {
		return "1 " + unit, true
	}
	return strconv.Itoa(n) + " " + unit + "s", true
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}
