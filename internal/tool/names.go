package tool

import (
	"slices"
	"strings"
)

// order is the order of built-in definitions: tools.md 1.1. MCP tools follow,
// then any other, then code_mode.
var order = [...]string{
	"read", "view_image", "bash", "hash_edit", "write", "grep", "find",
	"list_files", "subagents", "web", "ast_grep", "magi_control",
}

const (
	codeMode  = "code_mode"
	mcpPrefix = "mcp__"
	// maxMCPName bounds a qualified MCP name in bytes: tools.md 6.1.
	maxMCPName = 64
)

// Canonical maps an alias to the tool it stands for and leaves other names
// alone. Aliases are for dispatch only and never offered to a model.
func Canonical(name string) string {
	switch name {
	case "shell":
		return "bash"
	case "ffgrep":
		return "grep"
	case "fffind":
		return "find"
	}
	return name
}

// IsBuiltin reports whether name is the canonical name of a built-in tool,
// code_mode included.
func IsBuiltin(name string) bool {
	return name == codeMode || slices.Contains(order[:], name)
}

// Inspection reports whether a tool belongs to the set that inspect mode
// allows (tools.md 5.4). Aliases count as their tool.
func Inspection(name string) bool {
	switch Canonical(name) {
	case "read", "find", "list_files", "grep", "ast_grep":
		return true
	}
	return false
}

// DisableKey maps an entry of a disabled list to its canonical key: a built-in
// name (aliases map to it), the legacy word jev, or a well-formed qualified MCP
// name. ok is false for anything else, which makes the list invalid.
func DisableKey(entry string) (key string, ok bool) {
	key = Canonical(strings.TrimSpace(entry))
	return key, key == "jev" || IsBuiltin(key) || IsMCPName(key)
}

// IsMCPName reports whether name is mcp__SERVER__TOOL: at most 64 bytes, both
// parts not empty, of ASCII letters, digits, "_" and "-", without "__"; so the
// server cannot end in "_".
func IsMCPName(name string) bool {
	rest, ok := strings.CutPrefix(name, mcpPrefix)
	if !ok || len(name) > maxMCPName {
		return false
	}
	server, tool, ok := strings.Cut(rest, "__")
	return ok && server != "" && tool != "" && !strings.Contains(tool, "__") && strings.IndexFunc(rest, notNameRune) < 0
}

func notNameRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// before orders definitions.
func before(a, b string) int {
	if c := rank(a) - rank(b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func rank(name string) int {
	if i := slices.Index(order[:], name); i >= 0 {
		return i
	}
	switch {
	case strings.HasPrefix(name, mcpPrefix):
		return len(order)
	case name == codeMode:
		return len(order) + 2
	}
	return len(order) + 1
}
