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
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *approveMode) UnmarshalText(text []byte) error {
	return choose(m, string(text), "ask", "deny", "allow")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *thinkingLevel) UnmarshalText(text []byte) error {
	return choose(l, string(text), "default", "low", "medium", "high", "x_high", "max")
}

func choose[T ~string](into *T, text string, words ...string) error {
	if !slices.Contains(words, text) {
		return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
	}
	*into = T(text)
	return nil
}
