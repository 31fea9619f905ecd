package subagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/internal/tool"
)

// Bounds of one result in characters (tools.md 5.7).
const (
	maxOutputChars = 24_000
	maxErrorChars  = 8_000
)

type summary struct {
	Total       int   `json:"total"`
	Completed   int   `json:"completed"`
	Failed      int   `json:"failed"`
	TotalTokens int64 `json:"total_tokens"`
}

type usageReport struct {
	WholeRun       counts `json:"whole_run"`
	Latest         counts `json:"latest"`
	LatestSequence int    `json:"latest_request_sequence"`
	LatestFinal    bool   `json:"latest_final"`
}

type taskResult struct {
	ID          string         `json:"id"`
	Status      string         `json:"status"` // completed or failed
	Intent      string         `json:"intent"`
	Agent       *string        `json:"agent"`
	Identity    *string        `json:"identity"`
	Cwd         string         `json:"cwd"`
	SessionID   *string        `json:"session_id"`
	SessionPath *string        `json:"session_path"`
	TotalTokens int64          `json:"total_tokens"`
	Usage       *usageReport   `json:"usage"`
	Changed     []string       `json:"changed_files"`
	Output      string         `json:"output"`
	Truncated   bool           `json:"output_truncated"`
	Structured  map[string]any `json:"structured_output,omitempty"`
	Error       *string        `json:"error"`
}

// result is what the parent is told: every task in its place.
func (b *batch) result() tool.Result {
	all := struct {
		Summary summary      `json:"summary"`
		Results []taskResult `json:"results"`
	}{Summary: summary{Total: len(b.tasks)}}
	var changed []string
	for _, t := range b.tasks {
		r := t.result()
		all.Results = append(all.Results, r)
		all.Summary.TotalTokens += r.TotalTokens
		changed = append(changed, r.Changed...)
		if t.completed {
			all.Summary.Completed++
		} else {
			all.Summary.Failed++
		}
	}
	slices.Sort(changed)
	s := all.Summary
	return tool.Result{ToolName: Name, Success: s.Failed == 0, Content: pretty(all), Changed: slices.Compact(changed),
		Metadata: map[string]any{"summary": map[string]any{"total": s.Total, "completed": s.Completed, "failed": s.Failed, "total_tokens": s.TotalTokens},
			factsKey: b.facts()}}
}

func (t *task) result() taskResult {
	r := taskResult{ID: t.ID, Status: "completed", Intent: t.Intent, Agent: t.Agent, Identity: t.Identity, Cwd: t.Cwd,
		Changed: append([]string{}, t.log.changed()...), Structured: t.structured}
	if t.child != nil {
		r.SessionID, r.SessionPath = &t.child.SessionID, &t.child.Path
	}
	if r.Usage = t.usage(); r.Usage != nil {
		r.TotalTokens = r.Usage.WholeRun.EffectiveInput + r.Usage.WholeRun.Output
	}
	if !t.completed {
		r.Status = "failed"
		text := errorText(t.err)
		r.Error = &text
	}
	r.Output, r.Truncated = bounded(t.output)
	return r
}

// usage is what the task has spent; nil before its first request.
func (t *task) usage() *usageReport {
	if t.meter.requests == 0 {
		return nil
	}
	return &usageReport{t.meter.whole(), t.meter.latest, t.meter.requests - 1, t.meter.final}
}

// bounded cuts an output and says so in it.
func bounded(s string) (string, bool) {
	head, n := firstChars(s, maxOutputChars)
	if n <= maxOutputChars {
		return s, false
	}
	return fmt.Sprintf("%s\n[subagent result truncated: original_chars=%d limit=%d]", head, n, maxOutputChars), true
}

// firstChars returns the first limit characters of s, and how many it has.
func firstChars(s string, limit int) (head string, n int) {
	head = s
	for i := range s {
		if n == limit {
			head = s[:i]
		}
		n++
	}
	return head, n
}

// errorText is why a task failed.
func errorText(err error) string {
	switch {
	case err == nil, errors.Is(err, errBatchOver), errors.Is(err, context.Canceled):
		return tool.CancelledText
	case errors.Is(err, runner.ErrDenied):
		return "a command of this task was not approved; the run ends"
	case errors.Is(err, runner.ErrHook):
		return "a hook ended this task" // what it said is not for the parent
	}
	text, _ := firstChars(redact.Display(err.Error()), maxErrorChars)
	return text
}

// pretty is two-space JSON whose text stays readable.
func pretty(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "{}" // maps, slices and strings: cannot happen
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
