package hashedit

import (
	"errors"
	"path/filepath"
	"strings"

	"magicode/internal/tool"
)

var (
	headerPrefix = onUse(`(?i)^(?:update|add|delete|move)(?:[ \t]+(?:file|to))?[ \t]*:[ \t]*`)
	tagForm      = onUse(`^[0-9A-Fa-f]{4}$`)
)

var errHeader = errors.New("a line that starts with [ must be a header [PATH#TAG]; put a + before rows of text")

// parseHeader reads [PATH#TAG], mending what models often write. The tag is
// upper-case, or empty.
func parseHeader(line string, env tool.Env) (path, tag string, err error) {
	inner, ok := strings.CutPrefix(strings.TrimRight(line, " \t"), "[")
	if ok {
		inner, ok = strings.CutSuffix(inner, "]")
	}
	if !ok {
		return "", "", errHeader
	}
	inner = strings.TrimSpace(strings.TrimLeft(inner, "* \t"))
	inner = unquote(headerPrefix().ReplaceAllString(inner, ""))
	path, tag, hasTag := strings.Cut(inner, "#")
	if hasTag && !tagForm().MatchString(tag) {
		return "", "", errHeader
	}
	path = unquote(strings.TrimSpace(path))
	if path == "" {
		return "", "", errHeader
	}
	for _, cwd := range []string{env.Cwd, env.CanonicalCwd} {
		if filepath.IsAbs(path) && path != cwd && tool.Inside(cwd, filepath.Clean(path)) {
			path = strings.TrimPrefix(filepath.Clean(path)[len(cwd):], string(filepath.Separator))
		}
	}
	return filepath.Clean(path), strings.ToUpper(tag), nil
}
