package subagent

import (
	"context"
	"slices"

	"magicode/internal/runner"
	"magicode/internal/session"
)

// maxTailEvents bounds the records that a snapshot is made of (tools.md 5.7).
const maxTailEvents = 200

// record passes a child's records on. It remembers the last ones, the calls and
// the files that were changed. It implements runner.Recorder.
type record struct {
	dst   runner.Recorder
	watch *watch
	tail  []session.Event
	paths []string
	calls callLog
}

// Append implements runner.Recorder. The runner's recorder calls it one at a time.
func (r *record) Append(ctx context.Context, d session.Durability, events ...session.Event) (session.Outcome, error) {
	r.watch.touch()
	r.tail = append(r.tail, events...)
	if extra := len(r.tail) - maxTailEvents; extra > 0 {
		r.tail = slices.Delete(r.tail, 0, extra)
	}
	outcome, err := r.dst.Append(ctx, d, events...)
	r.count(events, err == nil && outcome.OK())
	return outcome, err
}

// count takes note of calls. One whose record is not in the file was not made;
// a result is one even if its record was lost.
func (r *record) count(events []session.Event, stored bool) {
	for _, ev := range events {
		switch ev.Kind {
		case session.KindToolCall, session.KindCodeModeToolCall:
			if stored {
				r.calls.begin(begun(ev.Payload))
			}
		case session.KindToolResult, session.KindCodeModeToolResult:
			e := endedOf(ev.Payload)
			r.paths = append(r.paths, e.changed...)
			r.calls.end(e.id, e)
		}
	}
}

// changed lists the changed files, sorted, each once.
func (r *record) changed() []string {
	slices.Sort(r.paths)
	r.paths = slices.Compact(r.paths)
	return r.paths
}
