package auth

import (
	"fmt"
	"unicode/utf8"
)

// Secret is a credential. It formats as a placeholder under every verb, so that
// no log, error or panic text shows it by accident; string(s) is the value.
type Secret string

const placeholder = "<secret>"

// Format writes the placeholder.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(placeholder)) }

// String is the placeholder.
func (Secret) String() string { return placeholder }

// MarshalText is the placeholder: credentials are written by this package alone.
func (Secret) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// Lookup gives an environment variable's value and whether it is set.
type Lookup func(name string) (string, bool)

// AnthropicKey gives the key of the provider anthropic: the variable
// ANTHROPIC_API_KEY when it is not empty, else a stored API key. ok is false
// when there is none; an OAuth record counts as nothing.
func AnthropicKey(lookup Lookup, f File) (key Secret, ok bool) {
	if v, _ := lookup("ANTHROPIC_API_KEY"); v != "" {
		return Secret(v), true
	}
	r, found := f.Records["anthropic"]
	if !found || r.Kind != KindAPIKey || r.Key == "" {
		return "", false
	}
	return r.Key, true
}

// CustomKey gives the key of a custom provider: the named variable and nothing
// else. Without a name the provider needs none. ok is false when the variable
// is empty, unset, or no UTF-8.
func CustomKey(lookup Lookup, variable string) (key Secret, ok bool) {
	if variable == "" {
		return "", true
	}
	v, _ := lookup(variable)
	return Secret(v), v != "" && utf8.ValidString(v)
}

// ClaudeConflict names the first variable that is set and would make the claude
// command use another credential than its own login; "" when there is none.
func ClaudeConflict(lookup Lookup) string {
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
	} {
		if v, _ := lookup(name); v != "" {
			return name
		}
	}
	return ""
}
