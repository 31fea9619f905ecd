package subagent

import (
	"encoding/json"

	"magicode/internal/jsonscan"
	"magicode/internal/script"
	"magicode/internal/tool"
)

// Outcomes of a task and of its calls, in the words of a card (extensions.md 13.2).
const (
	outcomeSuccess   = "success"
	outcomeFailure   = "failure"
	outcomeCancelled = "cancelled"
	outcomeUnknown   = "unknown" // no result is known
)

// maxActivity is how many calls a task is shown with: as many rows as a card
// has for them (extensions.md 13.9).
const maxActivity = 8

// called is one call of a task.
type called struct{ tool, outcome string }

// callLog counts what a task called, the calls of its scripts too, and remembers
// the latest. The zero value is ready.
type callLog struct {
	total, failed, changed int
	latest                 []*called          // at most maxActivity, by their start
	open                   map[string]*called // by id: no result so far
}

func (c *callLog) begin(id, name string) {
	one := &called{tool: name, outcome: outcomeUnknown}
	if c.open == nil {
		c.open = make(map[string]*called)
	}
	c.open[id] = one
	c.total++
	if len(c.latest) == maxActivity {
		copy(c.latest, c.latest[1:])
		c.latest = c.latest[:maxActivity-1]
	}
	c.latest = append(c.latest, one)
}

// end takes a call's result. What a script has changed counts for the calls
// that it made, not once more for itself.
func (c *callLog) end(id string, r ended) {
	one := c.open[id]
	if one == nil {
		return
	}
	delete(c.open, id)
	switch {
	case r.success:
		one.outcome = outcomeSuccess
	case r.content == tool.CancelledText:
		one.outcome = outcomeCancelled
	default:
		one.outcome = outcomeFailure
	}
	if !r.success {
		c.failed++
	}
	if len(r.changed) > 0 && one.tool != script.Name {
		c.changed++
	}
}

// begun reads the record of a call. Records of scripts are encoded already.
func begun(payload any) (id, name string) {
	switch p := payload.(type) {
	case map[string]any:
		id, _ = p["id"].(string)
		name, _ = p["name"].(string)
	case json.RawMessage:
		v := jsonscan.Value(p)
		id, name = v.Get("id").LenientText(), v.Get("name").LenientText()
	}
	return id, name
}

// ended is what the record of a result says.
type ended struct {
	id, content string
	success     bool
	changed     []string
}

func endedOf(payload any) (e ended) {
	switch p := payload.(type) {
	case map[string]any:
		e.id, _ = p["call_id"].(string)
		e.changed, _ = p["changed_paths"].([]string)
		if r, ok := p["result"].(map[string]any); ok {
			e.success, _ = r["success"].(bool)
			e.content, _ = r["content"].(string)
		}
	case json.RawMessage:
		v := jsonscan.Value(p)
		e.id, e.content = v.Get("call_id").LenientText(), v.Get("result").Get("content").LenientText()
		e.success, _ = v.Get("result").Get("success").Bool()
		for path := range v.Get("changed_paths").Elements() {
			e.changed = append(e.changed, path.LenientText())
		}
	}
	return e
}
