package tool

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPreflight: a command was refused before anything was started.
var ErrPreflight = errors.New("command refused")

// ShellPolicy are the settings of capabilities.tools.bash.
type ShellPolicy struct {
	AbsolutePaths  bool
	ShellExpansion bool
}

// Preflight refuses commands that leave cwd by accident: tools.md 1.8. It looks
// at words, not at meaning, and is no sandbox. Hook commands pass it too.
func (p ShellPolicy) Preflight(command string) error {
	if !p.ShellExpansion {
		if i := strings.IndexAny(command, "$~`{}"); i >= 0 {
			return fmt.Errorf("%w: %q needs shell expansion, which capabilities.tools.bash.shell_expansion switches off", ErrPreflight, command[i:i+1])
		}
	}
	for token := range strings.FieldsFuncSeq(command, isSeparator) {
		if err := p.token(strings.Trim(token, "\"', \t")); err != nil {
			return err
		}
	}
	return nil
}

func isSeparator(r rune) bool { return strings.ContainsRune(";|&<>()`\r\n", r) }

func (p ShellPolicy) token(token string) error {
	if !p.AbsolutePaths && (token == "cd" || strings.HasPrefix(token, "cd ")) {
		if dest := strings.TrimSpace(strings.TrimPrefix(token, "cd")); strings.Trim(dest, `"'`) != "." {
			return fmt.Errorf("%w: cd leaves cwd, which capabilities.tools.bash.absolute_paths switches off", ErrPreflight)
		}
	}
	for word := range strings.FieldsSeq(token) {
		for _, part := range parts(word) {
			if err := p.word(strings.Trim(part, `"'`)); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts are a word, what follows its first "=", and the value that is glued to
// a short option.
func parts(word string) []string {
	out := []string{word}
	if _, value, ok := strings.Cut(word, "="); ok {
		out = append(out, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		out = append(out, word[2:])
	}
	return out
}

func (p ShellPolicy) word(w string) error {
	w = strings.ReplaceAll(w, `\`, "/")
	for component := range strings.SplitSeq(w, "/") {
		if component == ".." {
			return fmt.Errorf("%w: a parent path (..) is not allowed in commands; use a path below cwd or an absolute one", ErrPreflight)
		}
	}
	if !p.AbsolutePaths && isAbsolute(w) {
		return fmt.Errorf("%w: an absolute path is not allowed: capabilities.tools.bash.absolute_paths is false", ErrPreflight)
	}
	return nil
}

func isAbsolute(w string) bool {
	if strings.HasPrefix(w, "/") {
		return true
	}
	return len(w) >= 2 && w[1] == ':' && (w[0]|0x20) >= 'a' && (w[0]|0x20) <= 'z'
}
