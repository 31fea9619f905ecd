package subagent

import (
	"context"
	"encoding/json"
	"errors"

	"magicode/internal/redact"
)

// factsKey is where a result's metadata holds the facts. It stays local: the
// model gets the content only (tools.md 1.3).
const factsKey = "subagent_telemetry"

// maxFactsBytes bounds the facts of a call as JSON (extensions.md 13.12).
const maxFactsBytes = 64 << 10

// maxActivityBytes bounds one row of a task's activity (extensions.md 13.9).
const maxActivityBytes = 240

// batchFacts is what a session keeps of a call for those who show it later
// (extensions.md 13.12). The fields of both types are in the order of their
// names, as records are, and none is ever left out.
type batchFacts struct {
	SchemaVersion int         `json:"schema_version"` // 1
	Tasks         []taskFacts `json:"tasks"`          // in the order of the call, at most maxTasks
}

// taskFacts tells what became of a task. Texts are redacted, without control
// characters, and hold at most 1,024 bytes; nil: there is none.
type taskFacts struct {
	Activity        []string     `json:"activity"`         // the latest calls, "write: success", by their start
	ActivityOmitted int          `json:"activity_omitted"` // calls before those
	Agent           *string      `json:"agent"`            // the label that the call gave
	CallsChanged    int          `json:"calls_changed"`    // that changed files
	CallsFailed     int          `json:"calls_failed"`
	CallsUnknown    int          `json:"calls_unknown"` // that began and have no result
	ChangedPaths    int          `json:"changed_paths"` // how many files
	Index           int          `json:"index"`         // 0-based
	Intent          string       `json:"intent"`
	Model           *string      `json:"model"` // nil, as Provider, when the task was not opened
	Outcome         string       `json:"outcome"`
	Profile         *string      `json:"profile"` // the identity that the call asked for
	Provider        *string      `json:"provider"`
	ScopedID        string       `json:"scoped_id"`    // the activity's, as usage records have it: "call_1/g1"
	TextLimited     bool         `json:"text_limited"` // a text was cut
	Usage           *usageReport `json:"usage"`        // nil before the first request
}

// cuts are what texts and activities are cut to, one after the other until the
// whole fits: first what a title has no room for, then most of the activity,
// then all of it and all but a beginning of each text. The last fits always:
// ten tasks with six texts of 64 bytes, each byte six in JSON, and the numbers.
var cuts = []struct{ textBytes, rows int }{{1024, maxActivity}, {256, maxActivity}, {256, 2}, {64, 0}}

// facts returns what the metadata holds of the call.
func (b *batch) facts() batchFacts {
	var all batchFacts
	for _, cut := range cuts {
		all = batchFacts{SchemaVersion: 1, Tasks: make([]taskFacts, 0, len(b.tasks))}
		for _, t := range b.tasks {
			all.Tasks = append(all.Tasks, t.facts(cut.textBytes, cut.rows))
		}
		if raw, err := json.Marshal(all); err == nil && len(raw) <= maxFactsBytes {
			break
		}
	}
	return all
}

func (t *task) facts(textBytes, rows int) taskFacts {
	l := limiter{max: textBytes}
	c := &t.log.calls
	f := taskFacts{
		Activity: []string{}, CallsChanged: c.changed, CallsFailed: c.failed, CallsUnknown: len(c.open), ChangedPaths: len(t.log.changed()),
		Index: t.place - 1, Intent: l.text(t.Intent), ScopedID: l.text(string(t.path)), Outcome: t.outcome(),
		Agent: l.optional(t.Agent), Profile: l.optional(t.Identity), Usage: t.usage(),
	}
	if t.child != nil {
		f.Provider, f.Model = l.optional(&t.child.Provider), l.optional(&t.child.Model)
	}
	for _, one := range c.latest[len(c.latest)-min(rows, len(c.latest)):] {
		end := ": " + one.outcome
		name := limiter{max: maxActivityBytes - len(end)}
		f.Activity = append(f.Activity, name.text(one.tool)+end)
		l.cut = l.cut || name.cut
	}
	f.ActivityOmitted, f.TextLimited = c.total-len(f.Activity), l.cut
	return f
}

// outcome is what the batch knows of the task's end. One that never had a
// worker has none.
func (t *task) outcome() string {
	switch {
	case t.completed:
		return outcomeSuccess
	case t.err == nil:
		return outcomeUnknown
	case errors.Is(t.err, context.Canceled), errors.Is(t.err, errBatchOver):
		return outcomeCancelled
	}
	return outcomeFailure
}

// limiter makes texts fit to be shown, and remembers whether it had to cut one.
type limiter struct {
	max int // bytes
	cut bool
}

// text redacts before it cuts: half a secret is not known for one.
func (l *limiter) text(s string) string {
	s = redact.Display(s)
	short := redact.Cut(s, l.max)
	l.cut = l.cut || len(short) < len(s)
	return short
}

func (l *limiter) optional(s *string) *string {
	if s == nil {
		return nil
	}
	short := l.text(*s)
	return &short
}
