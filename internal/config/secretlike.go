package config

import (
	"strings"
	"unicode"
)

// SecretLike reports whether an identifier looks like a credential
// (storage.md 11.4). White space counts as well, except in labels.
func SecretLike(s string) bool {
	return secretLabel(s) || strings.ContainsFunc(strings.TrimSpace(s), unicode.IsSpace)
}

func secretLabel(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "sk-") || strings.HasPrefix(s, "Bearer ") || strings.Contains(s, "=") {
		return true
	}
	if len(s) < 48 {
		return false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			n++
		}
	}
	return n >= 40
}

// identifier is the rule of provider and model names that settings hold for
// later use: not blank, no ASCII space or control character, no secret.
func identifier(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is blank"
	case hasSpaceOrControl(s):
		return "holds white space or a control character"
	case SecretLike(s):
		return "looks like a secret"
	}
	return ""
}
