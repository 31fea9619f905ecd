package profile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// Instruction is one file of user instructions.
type Instruction struct {
	Path string
	Text string
}

// Bounds of instruction files (storage.md 2.4, tools.md 9.2).
const (
	maxInstruction  = 262_144   // bytes of one file
	maxInstructions = 1_048_576 // bytes of all together
)

// ReadInstructions reads AGENTS.md of the home and of the working directory,
// where they exist, then the additional files, which must exist. Links are
// followed: people keep these files elsewhere. The error is of kind
// ErrInstructions.
func ReadInstructions(fsys vfs.FS, root, cwd string, additional []string) ([]Instruction, error) {
	var out []Instruction
	total := 0
	add := func(path string, optional bool) error {
		text, err := readInstruction(fsys, path, optional)
		if err != nil || text == nil {
			return err
		}
		if total += len(*text); total > maxInstructions {
			return &Error{Kind: ErrInstructions, File: path, Reason: "makes all instructions exceed 1 MiB"}
		}
		out = append(out, Instruction{Path: path, Text: *text})
		return nil
	}
	for _, dir := range []string{root, cwd} {
		if err := add(filepath.Join(dir, "AGENTS.md"), true); err != nil {
			return nil, err
		}
	}
	for _, path := range additional {
		if err := add(path, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readInstruction(fsys vfs.FS, path string, optional bool) (*string, error) {
	data, err := vfs.ReadFile(fsys, path, maxInstruction, vfs.Follow)
	if errors.Is(err, fs.ErrNotExist) && optional {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Kind: ErrInstructions, File: path, Reason: readReason(err)}
	}
	if !utf8.Valid(data) {
		return nil, &Error{Kind: ErrInstructions, File: path, Reason: "is not UTF-8"}
	}
	text := string(data)
	return &text, nil
}

// readReason puts a failed read into a fixed phrase.
func readReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, vfs.ErrNotRegular):
		return "is not a regular file"
	case errors.Is(err, vfs.ErrTooLarge):
		return "is too large"
	case errors.Is(err, fs.ErrPermission):
		return "is not readable"
	}
	return "cannot be read"
}
