package hook

import (
	"slices"
	"strings"

	"magicode/internal/redact"
)

// kept are the variables that a hook gets, the environment profile of tools.md 4.1.
var kept = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG",
	"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME",
}

// profile reduces an environment. It is never nil: no variable at all is not
// the same as all of them.
func profile(environ []string) []string {
	out := make([]string, 0, len(kept))
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		if ok && slices.Contains(kept[:], name) && !redact.CredentialKey(name) {
			out = append(out, kv)
		}
	}
	return out
}
