package runner

import (
	"strings"

	"magicode/internal/provider"
	"magicode/internal/script"
	"magicode/internal/tool"
)

// Thresholds of the hint that a script would do (tools.md 3.7).
const (
	nudgeCalls = 6
	nudgeSame  = 4
	nudgeBytes = 65_536
)

const nudgeText = "Several calls of this turn were of a mechanical kind. One code_mode script can make such calls, filter their results and return only what matters."

// nudging counts a turn's mechanical calls.
type nudging struct {
	over  bool // given, or code_mode was used
	calls int
	bytes int
	same  map[string]int
}

// nudge tells the model once in a turn about Code Mode.
func (r *run) nudge(c provider.Call, res tool.Result) {
	n := &r.nudging
	if n.over || r.Script == nil || !r.Script.Nudge {
		return
	}
	name := tool.Canonical(c.Name)
	if name == script.Name {
		n.over = true
		return
	}
	if !mechanical(name) {
		return
	}
	if n.same == nil {
		n.same = make(map[string]int)
	}
	n.calls, n.bytes = n.calls+1, n.bytes+len(res.Content)
	n.same[name]++
	if n.calls >= nudgeCalls || n.same[name] >= nudgeSame || n.bytes >= nudgeBytes {
		n.over = true
		r.pending = append(r.pending, addition{text: nudgeText})
	}
}

func mechanical(name string) bool {
	switch name {
	case "read", "grep", "find", "list_files", "ast_grep", "write", "hash_edit":
		return true
	}
	return strings.HasPrefix(name, "mcp__")
}
