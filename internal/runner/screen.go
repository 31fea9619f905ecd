package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"magicode/internal/protect/injection"
	"magicode/internal/redact"
	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// judgement is what a result's record says of the judgement that is to follow;
// the zero value: there is none.
type judgement struct {
	id       string
	enforced bool
}

// due says whether results of a tool are to be judged.
func (r *run) due(name string) judgement {
	if !r.Screen.Covers(name) {
		return judgement{}
	}
	return judgement{id: r.NewID(), enforced: r.Screen.Enforce}
}

// stamp is prompt_injection_protection in a result's metadata (tools.md 1.3).
func (j judgement) stamp() map[string]any {
	if j.id == "" {
		return map[string]any{"action": "not_assessed", "enforced": false, "result_id": nil}
	}
	return map[string]any{"action": "pending", "enforced": j.enforced, "result_id": j.id}
}

// screen judges a stored result and returns what the model, or the script that
// called, is shown of it (tools.md 7.4). The raw result stays in the file.
func (r *run) screen(ctx context.Context, o origin, c tool.Call, res tool.Result, due judgement) (tool.Result, error) {
	if due.id == "" {
		return res, nil
	}
	text := res.Content
	if o.batch != nil {
		text = script.Encoded(c.Name, res)
	}
	v, err := r.Screen.Assess(ctx, injection.Result{ID: due.id, Tool: c.Name, Arguments: c.Arguments, Prompt: r.input, Text: text, Stored: redact.Stored(res.Content)})
	if err != nil {
		return res, err
	}
	if err := r.recordVerdict(o, c, v); err != nil {
		return res, err
	}
	if err := r.tellVerdict(ctx, c.Name, v); err != nil || !v.Enforced || v.Action == injection.Allow {
		return res, err
	}
	return changed(o, res, v.Action), nil
}

// recordVerdict stores a verdict behind its result. One that is lost keeps an
// enforced result from every later turn; it ends no run, but a script's records
// must be whole.
func (r *run) recordVerdict(o origin, c tool.Call, v injection.Verdict) error {
	payload := o.stamp(map[string]any{"call_id": c.ID, "prompt_injection_protection": v.Record()})
	if o.batch == nil {
		_ = o.recorder.write(session.Optional, session.Event{Kind: session.KindToolResultAssessment, Payload: payload})
		return nil
	}
	payload["tool_name"] = c.Name
	return o.write(session.Ordered, session.KindCodeModeAssessment, payload)
}

// tellVerdict tells the user what the model does not see, and what could not be judged.
func (r *run) tellVerdict(ctx context.Context, name string, v injection.Verdict) error {
	name = redact.Cut(redact.Display(name), 128)
	said := "is shown to the model, because the protection is not enforced"
	switch {
	case v.Enforced && !v.Action.Shown():
		said = "is withheld from the model"
	case v.Enforced:
		said = "is shown to the model, marked as untrusted"
	}
	switch {
	case v.Failure != "":
		return r.notice(ctx, "warning", fmt.Sprintf("A result of %s could not be judged (%s); it %s.", name, v.Failure, said))
	case !v.Action.Shown():
		return r.notice(ctx, "warning", fmt.Sprintf("A result of %s looks like an attempt to give the model foreign instructions; it %s.", name, said))
	}
	return nil
}

// changed is a result as an enforced action shows it.
func changed(o origin, res tool.Result, a injection.Action) tool.Result {
	evidence := ""
	if x, ok := res.Metadata["code_mode_execution"]; ok {
		if raw, err := json.Marshal(x); err == nil {
			evidence = string(raw)
		}
	}
	res.Content = injection.Project(a, res.Content, evidence)
	if o.batch != nil {
		mark := script.Suspect
		if !a.Shown() {
			mark = script.Protected
		}
		res.Metadata = maps.Clone(res.Metadata)
		res.Metadata[mark] = true
	}
	return res
}
