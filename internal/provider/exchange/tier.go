package exchange

import "strings"

// CleanTier returns a service tier that a provider reported, or "" for one that
// is not kept: 1-64 bytes of [A-Za-z0-9._-] that do not look like a secret
// (providers.md 16.3).
func CleanTier(s string) string {
	if len(s) == 0 || len(s) > 64 || strings.HasPrefix(s, "sk-") {
		return ""
	}
	alnum := 0
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			alnum++
		case c != '.' && c != '_' && c != '-':
			return ""
		}
	}
	if len(s) >= 48 && alnum >= 40 {
		return ""
	}
	return s
}
