package prompttag

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/tool"
)

// TimeoutSeconds bounds each command (runner.md 12).
const TimeoutSeconds = 30

// Shell runs one command line like the tool bash, in at most TimeoutSeconds.
type Shell func(ctx context.Context, command string) tool.Result

// tag is one tag and the command that it stands for; "": the review comments,
// of which this version keeps none.
type tag struct{ name, command string }

var tags = []tag{{"tree", "tree"}, {"git-status", "git status"}, {"diff-changes", ""}}

// Expand returns the prompt with what its tags stand for. Each tag counts once,
// in order of appearance; a prompt without tags is returned as it is, and
// nothing is run. A ctx that ends stops before the next command.
func Expand(ctx context.Context, prompt string, shell Shell) string {
	found := find(prompt)
	if len(found) == 0 {
		return prompt
	}
	var b strings.Builder
	b.WriteString(prompt + "\n\n<context_injections>\n")
	for _, t := range found {
		if ctx.Err() != nil {
			break
		}
		t.write(ctx, &b, shell)
	}
	b.WriteString("</context_injections>")
	return b.String()
}

// find returns the tags of a prompt in order of appearance.
func find(prompt string) []tag {
	var found []tag
	seen := map[string]bool{}
	for i := strings.IndexByte(prompt, '#'); i >= 0; {
		for _, t := range tags {
			if !seen[t.name] && stands(prompt, i, "#"+t.name) {
				seen[t.name] = true
				found = append(found, t)
			}
		}
		next := strings.IndexByte(prompt[i+1:], '#')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return found
}

// stands reports whether a tag is at i and touches no word.
func stands(prompt string, i int, tag string) bool {
	if !strings.HasPrefix(prompt[i:], tag) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(prompt[:i])
	after, _ := utf8.DecodeRuneInString(prompt[i+len(tag):])
	return (i == 0 || !inWord(before)) && (i+len(tag) == len(prompt) || !inWord(after))
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }

func (t tag) write(ctx context.Context, b *strings.Builder, shell Shell) {
	if t.command == "" {
		fmt.Fprintf(b, "<context_injection name=%q tag=\"#%s\" success=\"false\">\nThere are no saved review comments for this repository.\n</context_injection>\n", t.name, t.name)
		return
	}
	res := shell(ctx, t.command)
	fmt.Fprintf(b, "<context_injection name=%q tag=\"#%s\" command=%q success=\"%v\">\n", t.name, t.name, t.command, res.Success)
	b.WriteString(strings.TrimRight(contained(res.Content), "\n"))
	b.WriteString("\n" + status(res) + "</context_injection>\n")
}

// contained keeps output from ending the block that holds it.
func contained(s string) string {
	return strings.ReplaceAll(s, "</context_injection", "&lt;/context_injection")
}

// status tells how the command ended; a command that never ran has only its
// failure.
func status(res tool.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "status:\nsuccess: %v\n", res.Success)
	for _, field := range []string{"exit_code", "timed_out", "stdout_truncated", "stderr_truncated"} {
		if v, ok := res.Metadata[field]; ok {
			if v == nil {
				v = "none"
			}
			fmt.Fprintf(&b, "%s: %v\n", field, v)
		}
	}
	return b.String()
}
