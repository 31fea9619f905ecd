package anthropic

import (
	"strconv"
	"strings"
)

// adaptive reports whether a model decides by itself how much it thinks
// (providers.md 16.2).
func adaptive(model string) bool {
	for _, prefix := range []string{"claude-fable-", "claude-mythos-"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(model, "claude-sonnet-"); ok {
		major, _ := version(rest)
		return major >= 5
	}
	if rest, ok := strings.CutPrefix(model, "claude-opus-"); ok {
		major, minor := version(rest)
		return major > 4 || major == 4 && minor >= 7
	}
	return false
}

// version reads "4-5-20250929" as 4.5. A second part of six or more digits is a
// date and no version.
func version(s string) (major, minor int) {
	parts := strings.SplitN(s, "-", 3)
	major = number(parts[0])
	if len(parts) > 1 && len(parts[1]) < 6 {
		minor = number(parts[1])
	}
	return major, minor
}

func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
