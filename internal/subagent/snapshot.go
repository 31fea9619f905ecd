package subagent

import (
	"encoding/json"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/protect/injection"
	"magicode/internal/redact"
	"magicode/internal/session"
)

// maxTailBytes bounds the snapshot that a failed task leaves (tools.md 5.7).
const maxTailBytes = 256 << 10

// snapshot renders the last records, the newest within the bound. It stands for
// a task that said nothing, so a model reads it: of a result it holds what a
// model may see, without what is recorded for others (tools.md 1.3, 7.4).
func (r *record) snapshot() string {
	var lines []string
	verdicts := make(map[string]injection.Action) // they stand behind their results
	size := 0
	for _, ev := range slices.Backward(r.tail) {
		payload, ok := shown(ev, verdicts)
		if !ok {
			continue
		}
		raw, err := json.Marshal(payload)
		if err != nil {
			continue
		}
		line := string(jsonscan.AppendString([]byte(`{"event_type":`), string(ev.Kind))) + `,"payload":` + redact.Text(string(raw)) + "}"
		if size += len(line) + 1; size > maxTailBytes {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// shown is a record as a model may read it. Judgements go into verdicts instead.
func shown(ev session.Event, verdicts map[string]injection.Action) (payload any, ok bool) {
	switch ev.Kind {
	case session.KindToolAppliedPreview: // for those who look at an edit (extensions.md 13.12)
		return nil, false
	case session.KindToolResultAssessment, session.KindCodeModeAssessment:
		j := judgementOf(fieldsOf(ev.Payload))
		verdicts[j.id] = j.action
		return nil, false
	case session.KindToolResult, session.KindCodeModeToolResult:
		return shownResult(fieldsOf(ev.Payload), verdicts), true
	}
	return ev.Payload, true
}

// shownResult keeps what is named here: a field that a record gains later is
// not for a model until somebody says so.
func shownResult(p map[string]any, verdicts map[string]injection.Action) map[string]any {
	result, _ := p["result"].(map[string]any)
	meta, _ := result["metadata"].(map[string]any)
	content, _ := result["content"].(string)
	if j := judgementOf(meta); j.enforced {
		content = injection.Project(verdicts[j.id], content, "")
	}
	out := map[string]any{"result": map[string]any{"tool_name": result["tool_name"], "success": result["success"], "content": content}}
	for _, key := range [...]string{"call_id", "parent_call_id", "sequence", "changed_paths", "execution_effects"} {
		if v, ok := p[key]; ok {
			out[key] = v
		}
	}
	return out
}

// judgement is what a record says of the judgement of a result.
type judgement struct {
	id       string
	enforced bool
	action   injection.Action
}

func judgementOf(p map[string]any) (j judgement) {
	m, _ := p["prompt_injection_protection"].(map[string]any)
	j.id, _ = m["result_id"].(string)
	j.enforced, _ = m["enforced"].(bool)
	switch a := m["action"].(type) {
	case string:
		j.action = injection.Action(a)
	case injection.Action:
		j.action = a
	}
	return j
}

// fieldsOf is a record's payload. Records of scripts are encoded already.
func fieldsOf(payload any) map[string]any {
	switch p := payload.(type) {
	case map[string]any:
		return p
	case json.RawMessage:
		var m map[string]any
		if json.Unmarshal(p, &m) == nil {
			return m
		}
	}
	return nil
}
