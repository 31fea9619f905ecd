package config

import (
	"errors"
	"strconv"
	"strings"
)

// ErrInvalid is the sentinel of everything that makes a configuration
// unusable: paths, directories, settings, MCP definitions.
var ErrInvalid = errors.New("configuration invalid")

// Error says where a configuration is wrong and in which way. It never holds a
// value, so it may be stored (decision 35). errors.Is(err, ErrInvalid) is true.
type Error struct {
	File   string // absolute path; "" when no file is concerned
	Key    string // "agent.model.provider"; "" for the file as a whole
	Line   int    // 1-based; 0 when unknown
	Reason string // a fixed phrase
	Err    error  // the cause, if there is one beyond the reason; not in Error's text of values
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("configuration invalid")
	if e.File != "" {
		b.WriteString(": " + e.File)
		if e.Line > 0 {
			b.WriteString(":" + strconv.Itoa(e.Line))
		}
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives ErrInvalid and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// problem is a rule's complaint, before the file and line are known.
type problem struct {
	path   []string
	reason string
}

func wrong(reason string, path ...string) *problem { return &problem{path: path, reason: reason} }

// under puts a problem below a key.
func (p *problem) under(key string) *problem {
	if p != nil {
		p.path = append([]string{key}, p.path...)
	}
	return p
}
