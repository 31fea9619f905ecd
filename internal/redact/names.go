package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes bounds a provider or model name in status: storage.md 11.4.
const maxNameBytes = 256

var credentialKeys = []string{
	"authorization", "bearer", "credential", "credentials", "aws_secret_access_key", "aws_session_token", "session_token", "secret_key",
	"api_key", "apikey", "password", "passwd", "secret", "token", "access_token", "accesstoken", "refresh_token", "refreshtoken",
	"auth_token", "authtoken", "id_token", "idtoken", "client_secret", "clientsecret", "account_id", "accountid", "chatgpt_account_id",
}

var credentialEnds = []string{"_api_key", "_secret", "_secret_access_key", "_session_token", "_secret_key", "_token", "_credential", "_credentials"}

// CredentialKey reports whether a JSON key or a variable of this name holds a
// credential (storage.md 11.3).
func CredentialKey(name string) bool {
	n := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if slices.Contains(credentialKeys, n) {
		return true
	}
	return slices.ContainsFunc(credentialEnds, func(end string) bool { return strings.HasSuffix(n, end) })
}

// SecretLike reports whether an identifier looks like a secret (storage.md 11.4).
func SecretLike(s string) bool {
	return SecretLikeLabel(s) || strings.IndexFunc(strings.TrimSpace(s), unicode.IsSpace) >= 0
}

// SecretLikeLabel is SecretLike for the label of a custom provider, where
// white space is allowed.
func SecretLikeLabel(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "sk-") || strings.HasPrefix(s, "Bearer ") || strings.Contains(s, "=") {
		return true
	}
	if len(s) < 48 {
		return false
	}
	return count(s, alnum) >= 40
}

// SafeName returns a provider or model name and true when status may show it:
// at most 256 bytes, no control characters, nothing that Text would change and
// nothing secret-like (storage.md 11.4).
func SafeName(s string) (string, bool) {
	if len(s) > maxNameBytes || strings.IndexFunc(s, unicode.IsControl) >= 0 || SecretLike(s) || Text(s) != s {
		return "", false
	}
	return s, true
}

// Cut returns the longest beginning of s of at most maxBytes bytes that does
// not end inside a character.
func Cut(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	n := max(maxBytes, 0)
	for low := max(n-utf8.UTFMax, 0); n > low && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n]
}
