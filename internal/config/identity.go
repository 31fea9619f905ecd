package config

import (
	"crypto/sha256"
	"encoding/hex"
)

// ContextID is the identity of a working directory together with a home: the
// SHA-256 of the compact JSON array of both canonical paths (storage.md 1.3),
// 64 lower-case hex digits.
func ContextID(cwd, root string) string {
	b := make([]byte, 0, len(cwd)+len(root)+8)
	b = append(b, '[')
	b = appendJSON(b, cwd)
	b = append(b, ',')
	b = appendJSON(b, root)
	b = append(b, ']')
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// appendJSON appends s as a JSON string that escapes only what JSON demands.
// Unlike frames it leaves U+2028 and U+2029 as they are: other programs hash
// the same bytes. s must be UTF-8.
func appendJSON(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
