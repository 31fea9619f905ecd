package script

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"magicode/internal/redact"
	"magicode/internal/tool"
)

// Bounds of the execution report (tools.md 3.5, extensions.md 13.12).
const (
	maxActions     = 100
	maxChanged     = 50
	maxTracked     = 1000
	maxPathBytes   = 512
	maxWarnings    = 32
	bytesPerToken  = 4
	effectsMessage = "Completed actions stay in effect. A call without a recorded result has an unknown outcome. Nothing is undone or repeated automatically. Effects of shell commands and outside services may not be tracked."
)

// Execution tells what a batch did. The fields are in the order of their names,
// as records are.
type Execution struct {
	Actions                []Action `json:"actions"`
	ActionsOmitted         int      `json:"actions_omitted"`
	ChangedPathCount       int      `json:"changed_path_count"`
	ChangedPaths           []string `json:"changed_paths"`
	ChangedPathsIncomplete bool     `json:"changed_paths_incomplete"`
	Effects                string   `json:"effects"`
	ElapsedMS              int64    `json:"elapsed_ms"`
	InnerCalls             int      `json:"inner_calls"`
	RecoverableFailures    int      `json:"recoverable_failures"`
	Successful             int      `json:"successful"`
	UnknownOutcomes        int      `json:"unknown_outcomes"`
	Warnings               []string `json:"warnings"`
}

// Action is one inner call. Success is false for an unknown outcome too.
type Action struct {
	Sequence int    `json:"sequence"`
	Success  bool   `json:"success"`
	Tool     string `json:"tool"`
}

// tally collects the report while the script runs.
type tally struct {
	report  Execution
	changed []string // canonical, each once
	seen    map[string]bool
	touched []tool.Touched
}

// add counts one inner call. With an error its result may not be recorded: the
// outcome counts as unknown, unless the call is known to have changed nothing.
func (t *tally) add(sequence int, name string, res tool.Result, err error) {
	x := &t.report
	x.InnerCalls++
	switch {
	case err != nil:
		x.UnknownOutcomes++
	case res.Success:
		x.Successful++
	default:
		x.RecoverableFailures++
	}
	if len(x.Actions) < maxActions {
		x.Actions = append(x.Actions, Action{Sequence: sequence, Success: res.Success && err == nil, Tool: shownTool(name)})
	} else {
		x.ActionsOmitted++
	}
	t.touched = append(t.touched, res.Touched...)
	for _, p := range res.Changed {
		t.change(p)
	}
}

func (t *tally) change(path string) {
	if t.seen[path] {
		return
	}
	if len(t.changed) == maxTracked {
		t.report.ChangedPathsIncomplete = true
		return
	}
	if t.seen == nil {
		t.seen = make(map[string]bool)
	}
	t.seen[path] = true
	t.changed = append(t.changed, path)
	if len(path) > maxPathBytes {
		t.report.ChangedPathsIncomplete = true
	}
	if len(t.report.ChangedPaths) < maxChanged {
		t.report.ChangedPaths = append(t.report.ChangedPaths, redact.Cut(redact.Display(path), maxPathBytes))
	}
}

// moreWarnings is the last warning where there were more than a report has room for.
const moreWarnings = "There were further warnings; the records of the session hold them all."

func (t *tally) warn(text string) {
	if w := t.report.Warnings; len(w) == maxWarnings {
		w[maxWarnings-1] = moreWarnings
		return
	}
	t.report.Warnings = append(t.report.Warnings, text)
}

// execution closes the report.
func (t *tally) execution(took time.Duration) *Execution {
	x := &t.report
	x.ChangedPathCount, x.Effects, x.ElapsedMS = len(t.changed), effectsMessage, took.Milliseconds()
	if x.Actions == nil {
		x.Actions = []Action{}
	}
	if x.ChangedPaths == nil {
		x.ChangedPaths = []string{}
	}
	if x.Warnings == nil {
		x.Warnings = []string{}
	}
	return x
}

// envelope is the content of a result.
type envelope struct {
	Status    string          `json:"status"` // completed, terminated
	Value     json.RawMessage `json:"value,omitempty"`
	Error     string          `json:"error,omitempty"`
	Recovery  string          `json:"recovery,omitempty"`
	Execution *Execution      `json:"execution"`
}

// Hints for what is no limit.
const (
	mendScript = "Correct the script and run only what is still missing; execution lists what has happened."
	noRecovery = "The turn ends here; execution lists what has happened."
	tryAgain   = "Look at execution for what has happened, then run the rest again, or call the tools directly."
)

// result is the outer result of a batch and what ends the turn, if anything.
func (b *batch) result(end ending, took time.Duration) (tool.Result, error) {
	x := b.tally.execution(took)
	e, fatal := envelope{Status: "terminated", Execution: x}, error(nil)
	var limit *LimitError
	switch {
	case errors.As(end.err, &limit):
		e.Error, e.Recovery = limit.Error(), limit.recovery()
	case errors.Is(end.err, errEngine):
		e.Error, e.Recovery = "Code Mode JavaScript failed: the engine stopped working; completed effects remain applied", tryAgain
	case end.err != nil:
		e.Error, e.Recovery, fatal = b.fatalText(end.err), noRecovery, end.err
	case end.failed != nil:
		e.Error, e.Recovery = end.failed.text(), mendScript
	default:
		e.Status, e.Value = "completed", json.RawMessage(end.value)
	}
	if b.opt.Ended != nil {
		kind := Kind("")
		if limit != nil {
			kind = limit.Kind
		}
		b.opt.Ended(b.calls, kind)
	}
	content, err := json.Marshal(e)
	if err != nil {
		return tool.Failed("the result of the script could not be encoded"), fatal
	}
	return tool.Result{
		Success: e.Status == "completed", Content: string(content), Changed: b.tally.changed, Touched: b.tally.touched,
		Metadata: map[string]any{"code_mode_execution": x, "code_mode_response_token_estimate": (len(content) + bytesPerToken - 1) / bytesPerToken},
	}, fatal
}

func (b *batch) fatalText(err error) string {
	if b.ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return tool.CancelledText
	}
	return redact.Text("Code Mode was ended by the host: " + err.Error())
}

// Timeless is a result's content without the time that it took, for
// comparisons: two runs of one script never take the same time.
func Timeless(content string) string {
	const key = `"elapsed_ms":`
	at := strings.LastIndex(content, key) // the report stands behind the value
	if at < 0 {
		return content
	}
	at += len(key)
	return content[:at] + strings.TrimLeft(content[at:], "0123456789")
}
