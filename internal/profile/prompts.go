package profile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// fragments are the prompt parts that a file in <root>/prompts may replace, and
// how large it may be (tools.md 9.4).
var fragments = [...]struct {
	name  string
	limit int64
}{
	{"system", 256 << 10}, {"tools", 256 << 10}, {"codemode", 256 << 10}, {"skills", 256 << 10}, {"subagents", 64 << 10},
}

// ReadFragments reads the replacements: fragment name to text, with variables
// still in it. Every variable in them is known. The error is of kind
// ErrInstructions.
func ReadFragments(fsys vfs.FS, root string) (map[string]string, error) {
	dir := filepath.Join(root, "prompts")
	entries, err := fsys.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil, nil // one look instead of one per fragment
	}
	out := map[string]string{}
	for _, f := range fragments {
		path := filepath.Join(dir, f.name+".md")
		data, err := vfs.ReadFile(fsys, path, f.limit, vfs.Follow)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &Error{Kind: ErrInstructions, File: path, Reason: readReason(err)}
		}
		if !utf8.Valid(data) {
			return nil, &Error{Kind: ErrInstructions, File: path, Reason: "is not UTF-8"}
		}
		if line := unknownVariable(string(data), f.name == "subagents"); line > 0 {
			return nil, &Error{Kind: ErrInstructions, File: path, Line: line, Reason: "has an unknown variable or unbalanced braces"}
		}
		out[f.name] = string(data)
	}
	return out, nil
}

// unknownVariable gives the line of the first double brace that belongs to no
// variable spelled exactly; 0 when there is none.
func unknownVariable(text string, subagents bool) int {
	names := []string{"{{SKILLS_LIST}}", "{{operating_system}}", "{{terminal_environment}}"}
	if subagents {
		names = append(names, "{{LIST_SUBAGENTS}}")
	}
	rest := text
	for {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			return 0
		}
		rest = rest[i:]
		if !strings.HasPrefix(rest, "{{") && !strings.HasPrefix(rest, "}}") {
			rest = rest[1:]
			continue
		}
		size := variableAt(rest, names)
		if size == 0 {
			return 1 + strings.Count(text[:len(text)-len(rest)], "\n")
		}
		rest = rest[size:]
	}
}

func variableAt(s string, names []string) int {
	for _, name := range names {
		if strings.HasPrefix(s, name) {
			return len(name)
		}
	}
	return 0
}
