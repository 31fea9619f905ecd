package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// script is one file of testdata/script: commands, then files in txtar form.
// The commands are those of testscript that we need ("env", "exists", "grep",
// "chmod", "sleep", "skip", with "!" and conditions), and the verbs of TestScripts.
type script struct {
	t     *testing.T
	dir   string
	env   map[string]string
	verbs map[string]func(args []string)
	at    string // file:line
}

// Fatalf ends the test at the current line.
func (s *script) Fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s: %s", s.at, fmt.Sprintf(format, args...))
}

// Check ends the test for an error.
func (s *script) Check(err error) {
	s.t.Helper()
	if err != nil {
		s.Fatalf("%v", err)
	}
}

func (s *script) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

func (s *script) readFile(name string) string {
	b, err := os.ReadFile(s.path(name))
	s.Check(err)
	return string(b)
}

// run unpacks the files and plays the commands.
func (s *script) run(file, text string) {
	commands := s.unpack(text)
	for i, line := range strings.Split(commands, "\n") {
		s.at = fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
		words := s.words(line)
		neg := len(words) > 0 && words[0] == "!"
		if neg {
			words = words[1:]
		}
		if len(words) > 0 && words[0] == "[root]" {
			if words = words[1:]; os.Geteuid() != 0 {
				continue
			}
		}
		if len(words) > 0 {
			s.command(neg, words[0], words[1:])
		}
	}
}

func (s *script) command(neg bool, verb string, args []string) {
	switch verb {
	case "env":
		name, value, _ := strings.Cut(args[0], "=")
		s.env[name] = value
	case "exists":
		if _, err := os.Lstat(s.path(args[0])); (err == nil) == neg {
			s.Fatalf("%s: %v", args[0], err)
		}
	case "grep":
		found := regexp.MustCompile("(?m)" + args[0]).MatchString(s.readFile(args[1]))
		if found == neg {
			s.Fatalf("found %v in\n%s", found, s.readFile(args[1]))
		}
	case "chmod":
		mode, err := strconv.ParseUint(args[0], 8, 32)
		s.Check(err)
		s.Check(os.Chmod(s.path(args[1]), os.FileMode(mode)))
	case "sleep":
		d, err := time.ParseDuration(args[0])
		s.Check(err)
		time.Sleep(d) // the scripts drive a real child, which has no other clock
	case "skip":
		s.t.Skip(args[0])
	default:
		f := s.verbs[verb]
		if f == nil || neg {
			s.Fatalf("no command %s", verb)
		}
		f(args)
	}
}

// unpack writes the files behind the commands.
func (s *script) unpack(text string) (commands string) {
	marker := regexp.MustCompile(`(?m)^-- (\S+) --\n`)
	marks := marker.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := s.path(text[m[2]:m[3]])
		s.Check(os.MkdirAll(filepath.Dir(name), 0o700))
		s.Check(os.WriteFile(name, []byte(text[m[1]:end]), 0o600))
	}
	if len(marks) > 0 {
		return text[:marks[0][0]]
	}
	return text
}

// words splits a line; $NAME counts outside single quotes.
func (s *script) words(line string) []string {
	if strings.HasPrefix(line, "#") {
		return nil
	}
	var out []string
	var word strings.Builder
	inWord := false
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			word.WriteString(part)
			inWord = true
			continue
		}
		part = os.Expand(part, func(name string) string { return s.env[name] })
		for _, r := range part {
			switch {
			case r != ' ':
				word.WriteRune(r)
				inWord = true
			case inWord:
				out, inWord = append(out, word.String()), false
				word.Reset()
			}
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out
}
