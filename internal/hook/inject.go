package hook

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/session"
)

// Statuses of an injection (storage.md 6.4).
const (
	injected        = "success"
	invalidJSON     = "invalid_json"
	invalidShape    = "invalid_shape"
	unsupportedRole = "unsupported_role"
	emptyContent    = "empty_content"
	overLimit       = "over_limit"
	hookFailed      = "hook_failed"
)

// injects: the option counts in the phases after something only.
func (j *job) injects() bool { return j.hook.ContextInjection && j.sub.Phase != BeforeTool }

// inject records what became of the hook's context and returns its messages.
func (j *job) inject(stdout string, failed bool) []string {
	status, items := hookFailed, []string(nil)
	if !failed {
		status, items = readContext(stdout, j.hook.ContextMaxBytes)
	}
	size := 0
	for _, it := range items {
		size += len(it)
	}
	id := j.sub.CallID
	if id == "" {
		id = j.sub.Tool
	}
	j.record(session.Event{Kind: session.KindHookContextInjection, Payload: map[string]any{
		"schema_version": 1, "phase": j.sub.Phase, "label": j.hook.Label, "target_tool": j.sub.Tool, "status": status,
		"item_count": len(items), "byte_count": size, "max_bytes": j.hook.ContextMaxBytes, "hook_index": j.index,
		"tool_call_id": orNull(j.sub.CallID), "injection_id": injectionID(j.sub.Phase, id, j.index),
	}})
	return items
}

// readContext reads {"context_items":[{"role":"user","content":"…"}]} and
// nothing else. All items count, or none.
func readContext(stdout string, limit int) (status string, items []string) {
	v, err := jsonscan.Parse([]byte(stdout), jsonscan.Options{})
	if err != nil {
		return invalidJSON, nil
	}
	list := v.Get("context_items")
	if members(v) != 1 || list.Kind() != jsonscan.Array {
		return invalidShape, nil
	}
	size := 0
	for e := range list.Elements() {
		role, okRole := e.Get("role").Text()
		content, okContent := e.Get("content").Text()
		switch {
		case members(e) != 2 || !okRole || !okContent:
			return invalidShape, nil
		case role != "user":
			return unsupportedRole, nil
		case strings.TrimSpace(content) == "":
			return emptyContent, nil
		}
		size += len(content)
		items = append(items, content)
	}
	if size > limit {
		return overLimit, nil
	}
	return injected, items
}

// members counts the members of an object; -1 for another kind.
func members(v jsonscan.Value) int {
	if v.Kind() != jsonscan.Object {
		return -1
	}
	n := 0
	for range v.Members() {
		n++
	}
	return n
}
