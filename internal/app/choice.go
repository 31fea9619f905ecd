package app

import (
	"fmt"
	"slices"
	"strings"
)

// Words that a flag takes. A flag that is not given is "", which an enum tag of
// the grammar would show as one of the choices.
type (
	approveMode   string
	thinkingLevel string
	exportFormat  string
	shellName     string
)

// The choices, for the words themselves and for shell completion.
func (approveMode) choices() []string  { return []string{"ask", "deny", "allow"} }
func (exportFormat) choices() []string { return []string{"markdown", "json"} }
func (shellName) choices() []string    { return []string{"bash", "zsh", "fish"} }
func (thinkingLevel) choices() []string {
	return []string{"default", "low", "medium", "high", "x_high", "max"}
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *approveMode) UnmarshalText(text []byte) error {
	return choose(m, text)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *thinkingLevel) UnmarshalText(text []byte) error {
	return choose(l, text)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *exportFormat) UnmarshalText(text []byte) error { return choose(f, text) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *shellName) UnmarshalText(text []byte) error { return choose(s, text) }

// word is a flag's or argument's type that takes one of a few words.
type word interface {
	~string
	choices() []string
}

func choose[T word](into *T, text []byte) error {
	words := (*into).choices()
	if !slices.Contains(words, string(text)) {
		return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
	}
	*into = T(text)
	return nil
}
