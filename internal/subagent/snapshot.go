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

// verdicts are the assessments of results, by the call and the result they name.
type verdicts map[[2]string]injection.Recorded

// snapshot renders the last records, the newest within the bound. It stands for
// a task that said nothing, so a model reads it: of a result it holds what a
// model may see, without what is recorded for others (tools.md 1.3, 7.4).
func (r *record) snapshot() string {
	var lines []string
	seen := make(verdicts) // they stand behind their results
	size := 0
	for _, ev := range slices.Backward(r.tail) {
		raw, err := json.Marshal(ev.Payload)
		if err != nil {
			continue
		}
		payload := shown(ev.Kind, raw, seen)
		if payload == nil {
			continue
		}
		line := string(jsonscan.AppendString([]byte(`{"event_type":`), string(ev.Kind))) + `,"payload":` + redact.Text(string(payload)) + "}"
		if size += len(line) + 1; size > maxTailBytes {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// shown is a payload as a model may read it, nil for none of it. Assessments go
// into seen instead.
func shown(kind session.Kind, payload jsonscan.Value, seen verdicts) jsonscan.Value {
	switch kind {
	case session.KindToolAppliedPreview: // for those who look at an edit (extensions.md 13.12)
		return nil
	case session.KindToolResultAssessment, session.KindCodeModeAssessment:
		v := injection.RecordedIn(payload)
		seen[[2]string{payload.Get("call_id").LenientText(), v.ResultID()}] = v
		return nil
	case session.KindToolResult, session.KindCodeModeToolResult:
		return shownResult(payload, seen)
	}
	return payload
}

// shownResult keeps what is named here: a field that a record gains later is
// not for a model until somebody says so.
func shownResult(p jsonscan.Value, seen verdicts) jsonscan.Value {
	result := p.Get("result")
	// What was judged is what is stored, and this payload was not stored yet.
	content := redact.Stored(result.Get("content").LenientText())
	v := injection.RecordedIn(result.Get("metadata"))
	if v.Pending() {
		if said := seen[[2]string{p.Get("call_id").LenientText(), v.ResultID()}]; said.Enforced() {
			v = said
		}
	}
	content = v.Project(content, "", func(text string) string { return text })
	out := jsonscan.AppendString([]byte(`{"result":{"content":`), content)
	out = appendFields(out, result, "tool_name", "success")
	out = append(out, '}')
	out = appendFields(out, p, "call_id", "parent_call_id", "sequence", "changed_paths", "execution_effects")
	return append(out, '}')
}

// appendFields adds those members of v to an object that has one already.
func appendFields(dst []byte, v jsonscan.Value, names ...string) []byte {
	for _, name := range names {
		if field := v.Get(name); field.Kind() != jsonscan.Invalid {
			dst = append(jsonscan.AppendString(append(dst, ','), name), ':')
			dst = append(dst, field...)
		}
	}
	return dst
}
