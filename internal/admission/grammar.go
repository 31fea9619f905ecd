package admission

import (
	"unicode"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
)

// maxEscapedName is the longest spelling of a name: \u0061 for each byte.
const maxEscapedName = 6 * localagent.MaxIDBytes

// name returns the bytes of a string that matches the id grammar. They lie in
// buf if it is spelled with escapes.
func name(v jsonscan.Value, buf *[maxEscapedName]byte) (b []byte, ok bool) {
	if v.Kind() != jsonscan.String || len(v) > maxEscapedName+2 {
		return nil, false
	}
	b = v[1 : len(v)-1]
	if isName(b) {
		return b, true // no backslash is in the grammar
	}
	if b, ok = v.AppendText(buf[:0]); !ok || !isName(b) {
		return nil, false
	}
	return b, true
}

// intern returns a method name, a constant where version 1 knows it.
func intern(v jsonscan.Value, buf *[maxEscapedName]byte) (method string, ok bool) {
	b, ok := name(v, buf)
	if !ok {
		return "", false
	}
	switch string(b) {
	case localagent.MethodInitialize:
		return localagent.MethodInitialize, true
	case localagent.MethodStatus:
		return localagent.MethodStatus, true
	case localagent.MethodShutdown:
		return localagent.MethodShutdown, true
	case localagent.MethodSessionCreate:
		return localagent.MethodSessionCreate, true
	case localagent.MethodSessionOpen:
		return localagent.MethodSessionOpen, true
	case localagent.MethodHistoryPage:
		return localagent.MethodHistoryPage, true
	case localagent.MethodTurnStart:
		return localagent.MethodTurnStart, true
	case localagent.MethodTurnCancel:
		return localagent.MethodTurnCancel, true
	case localagent.MethodApprovalAnswer:
		return localagent.MethodApprovalAnswer, true
	}
	return string(b), true
}

// ValidID reports whether s matches [A-Za-z0-9._-]{1,64}: request, run and
// approval ids, method and capability names, revisions and cursors.
func ValidID(s string) bool { return isName(s) }

// ValidSessionID reports whether s matches [A-Za-z0-9_-]{1,64}.
func ValidSessionID(s string) bool {
	for i := range len(s) {
		if s[i] == '.' {
			return false
		}
	}
	return isName(s)
}

// ValidPrompt reports whether s has at most 16,384 bytes and something that is
// not white space.
func ValidPrompt(s string) bool {
	return len(s) <= localagent.MaxPromptBytes && !Blank(s)
}

// Blank reports whether s is nothing but characters with the Unicode property
// White_Space.
func Blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

func isName[T string | []byte](s T) bool {
	if len(s) == 0 || len(s) > localagent.MaxIDBytes {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 128 || nameBytes[c>>6]>>(c&63)&1 == 0 {
			return false
		}
	}
	return true
}

// nameBytes has a bit for each ASCII byte of the id grammar.
var nameBytes = [2]uint64{
	1<<'-' | 1<<'.' | (1<<10-1)<<'0',
	(1<<26-1)<<('A'-64) | 1<<('_'-64) | (1<<26-1)<<('a'-64),
}
