package profile

import (
	"errors"
	"strconv"
)

// ErrInvalid: a primary agent or subagent profile that is asked for cannot be used.
var ErrInvalid = errors.New("profile invalid")

// ErrInstructions: an instruction file or a prompt fragment cannot be used.
var ErrInstructions = errors.New("instructions invalid")

// Error names the file and the reason. It never holds a value or file content,
// so it may be stored.
type Error struct {
	Kind   error // ErrInvalid or ErrInstructions
	File   string
	Key    string // front matter key, or a settings key
	Line   int    // 1-based; 0 when unknown
	Reason string
}

func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.File != "" {
		text += ": " + e.File
		if e.Line > 0 {
			text += ":" + strconv.Itoa(e.Line)
		}
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Reason
}

// Unwrap gives Kind.
func (e *Error) Unwrap() error { return e.Kind }
