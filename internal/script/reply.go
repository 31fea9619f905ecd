package script

import (
	"encoding/json"
	"strings"

	"magicode/internal/tool"
)

// reply is what tools.call returns to the script.
type reply struct {
	Success bool       `json:"success"`
	Content any        `json:"content,omitempty"`
	Error   *toolError `json:"error,omitempty"`
}

type toolError struct {
	Code    string `json:"code"` // tool_error, unavailable_tool, protected_content
	Message string `json:"message"`
}

// replyOf turns a result into what a script can work with (tools.md 3.2).
func replyOf(name string, res tool.Result) reply {
	if res.Metadata[Protected] == true {
		return reply{Error: &toolError{"protected_content", res.Content}}
	}
	if v, ok := structured(name, res); ok || res.Success {
		if !ok {
			v = map[string]any{"text": res.Content}
		}
		out := reply{Success: res.Success, Content: v}
		if !res.Success {
			out.Error = &toolError{"tool_error", res.Content}
		}
		return out
	}
	code := "tool_error"
	if res.Metadata[Unavailable] == true {
		code = "unavailable_tool"
	}
	return reply{Error: &toolError{code, res.Content}}
}

// Encoded is the text that a script gets of a result: the encoded form of a
// structured one.
func Encoded(name string, res tool.Result) string {
	v, ok := structured(tool.Canonical(name), res)
	if !ok {
		return res.Content
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return res.Content
	}
	return string(raw)
}

// structured is the form of results that have one.
func structured(name string, res tool.Result) (any, bool) {
	switch {
	case name == "read" || name == "find":
		v, ok := res.Metadata["structured_result"]
		return v, ok
	case strings.HasPrefix(name, "mcp__"):
		if v, ok := res.Metadata["structured_result"]; ok {
			return v, true
		}
		if res.Success {
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": res.Content}}, "structuredContent": nil, "complete": true}, true
		}
	}
	return nil, false
}

// outputSchema tells what a successful reply's content holds.
func outputSchema(name string) json.RawMessage {
	switch {
	case name == "read":
		return json.RawMessage(`{"type":"object","properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},"complete":{"type":"boolean"},"error":{"type":"string"}},"required":["path","text","complete"]}},"complete":{"type":"boolean"}},"required":["files","complete"]}`)
	case name == "find":
		return json.RawMessage(`{"type":"object","properties":{"files":{"type":"array"},"complete":{"type":"boolean"},"scan_complete":{"type":"boolean"},"has_more":{"type":"boolean"},"next_offset":{"type":["integer","null"]}},"required":["files","complete"]}`)
	case strings.HasPrefix(name, "mcp__"):
		return json.RawMessage(`{"type":"object","properties":{"content":{"type":"array"},"structuredContent":{},"complete":{"type":"boolean"}},"required":["content","complete"]}`)
	}
	return json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
}

type listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type described struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// list is the inner surface, or the tools in which every word occurs.
func (b *batch) list(words []string) []listed {
	out := []listed{}
next:
	for _, d := range b.opt.Surface {
		text := strings.ToLower(d.Name + " " + d.Description)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		out = append(out, listed{d.Name, d.Description})
	}
	return out
}

// describe is a tool's definition, nil for none of that name.
func (b *batch) describe(name string) any {
	name = tool.Canonical(name)
	for _, d := range b.opt.Surface {
		if d.Name == name {
			return described{d.Name, d.Description, d.Parameters, outputSchema(name)}
		}
	}
	return nil
}

// budget is what tools.budget returns; it costs nothing.
func (b *batch) budget() string {
	l := b.opt.Limits
	out := map[string]any{
		"inner_calls":              Gauge{int64(b.calls), int64(l.InnerCalls)}.json(),
		"result_bytes":             Gauge{b.results, int64(l.TotalResultBytes)}.json(),
		"runtime_ms":               Gauge{b.spent.Milliseconds(), l.Runtime.Milliseconds()}.json(),
		"memory_bytes":             Gauge{b.machine.heap.used(), int64(l.MemoryBytes)}.json(),
		"batch_history_bytes":      nil,
		"session_history_bytes":    nil,
		"inner_result_bytes_limit": l.InnerResultBytes,
		"return_bytes_limit":       l.ReturnBytes,
	}
	if b.opt.History != nil {
		h := b.opt.History()
		out["batch_history_bytes"], out["session_history_bytes"] = h.Batch.json(), h.Session.json()
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return "null" // numbers only: it does not happen
	}
	return string(raw)
}
