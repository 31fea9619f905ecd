package runner

import (
	"context"
	"fmt"

	"magicode/internal/session"
)

// Nest is the run around a call that holds runs of its own: where their events
// and records go (tool.Env.Nest). It is good until the call returns, and may be
// used by several goroutines meanwhile.
type Nest struct {
	run  *run
	path Path
}

// Path is the activity of the call. What is nested lies below it.
func (n *Nest) Path() Path { return n.path }

// Sink is where the run's own events go.
func (n *Nest) Sink() Sink { return n.run.Sink }

// Emit reports an event of nested work as one of the run: activities count
// against its limits and are ended with it, and what was spent is recorded. The
// error is ErrContentLimit or the sink's; both end the run.
func (n *Nest) Emit(ctx context.Context, ev Event) error {
	r := n.run
	r.nesting <- struct{}{}
	defer func() { <-r.nesting }()
	switch e := ev.(type) {
	case ActivityStarted:
		return r.startActivity(ctx, e.Path, e.Kind, e.Label)
	case ActivityFinished:
		return r.finishActivity(ctx, e.Path, e.OK)
	case Spent:
		id := "session-usage/" + r.RunID + "/activity/" + string(e.Path)
		r.rec.later(usageEvent(id, e.Sequence, e.Usage, e.Final))
	}
	return r.Sink.Emit(ctx, ev)
}

// Record stores events in the run's session, behind everything that it has to
// say so far. They are synced with the run's next durable record.
func (n *Nest) Record(events ...session.Event) error {
	if err := n.run.rec.write(session.Ordered, events...); err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	return nil
}
