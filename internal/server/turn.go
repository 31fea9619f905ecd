package server

import (
	"cmp"
	"context"

	"magicode/internal/event"
	"magicode/internal/worker"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// turnStart admits a turn. Its answer is queued before anything of the run can
// be: the run's events are taken under the lock that is held here.
func (c *conn) turnStart(ctx context.Context, q *call) localagent.Code {
	r := &run{id: c.cfg.NewID(), session: q.start.SessionID}
	r.ref = event.NewRef(r.session, r.id)
	r.events = event.NewQueue(c.cfg.Tel, c.eventQueued, func() { c.eventLost(r) })
	job, err := c.runtime.NewRun(RunRequest{SessionID: r.session, RunID: r.id, Prompt: q.start.Prompt, Events: r.events})
	if err != nil {
		return localagent.CodeExecutionFailed
	}
	r.job = job
	_, r.span = c.cfg.Tel.Begin(ctx, telemetry.SpanRun)
	r.events.Observe(r.span)
	runBegan(r.span, r, len(q.start.Prompt))
	err = worker.Run(ctx, &c.slot, worker.Job[event.Finished]{
		Work:    func(ctx context.Context) event.Finished { return turnWorker(r.span.Into(ctx), r) },
		Crashed: func(p worker.Panic) event.Finished { return c.turnCrashed(r, p) },
		Done:    func(f event.Finished) { c.turnDone(r, f) },
	})
	if err != nil {
		r.span.End()
		return localagent.CodeExecutionFailed
	}
	c.run = r
	c.succeedAccepted(q.id, r.id)
	return ""
}

func turnWorker(ctx context.Context, r *run) event.Finished { return r.job.Do(ctx) }

// turnCrashed is the account of a turn that could not give its own.
func (c *conn) turnCrashed(r *run, p worker.Panic) event.Finished {
	err := c.panicked(WorkerTurn, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	f := event.Finished{Outcome: localagent.OutcomeFailed, Persistence: localagent.PersistenceNotStarted, Err: err}
	if r.persisted {
		f.Persistence = localagent.PersistenceDegraded
	}
	return f
}

// turnDone takes in how the run ended. What its helpers send later is dropped.
func (c *conn) turnDone(r *run, f event.Finished) {
	r.events.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		runEnded(r.span, f, "")
		return
	}
	if r.events.Undeliverable() {
		f.Outcome, f.Err = localagent.OutcomeFailed, event.ErrUndeliverable
	}
	r.ended, r.finished = true, f
	c.settle()
}

// eventQueued is called by the run's goroutine after each event: it takes the
// event and writes it without a hop, if there is room.
func (c *conn) eventQueued() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
}

// eventLost cancels a run whose events find no room.
func (c *conn) eventLost(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == r {
		c.slot.Cancel(ErrOutput)
	}
}

// kept is how many frames of the output queue events leave to responses. A host
// that is slow for a moment while a reply streams would otherwise find the queue
// full of text, and its next request would break the bound.
const kept = localagent.MaxPendingFrames / 4

// pump takes events while the output queue has room beyond what is kept. The last
// one is the run's end, which needs the worker to have ended and nothing to be left.
func (c *conn) pump() {
	for c.run != nil && !c.over && c.room() {
		item, ok := c.run.events.Take()
		if ok {
			c.send(item)
			continue
		}
		if c.run.ended {
			c.finish()
		}
		return
	}
}

// room reports whether an event may be queued, after having made some if it can.
func (c *conn) room() bool {
	if c.out.Room() <= kept {
		c.out.Flush()
	}
	return c.out.Room() > kept
}

func (c *conn) send(item event.Item) {
	switch e := item.Event().(type) {
	case event.InputPersisted:
		c.run.persisted = true
		c.run.span.Event(telemetry.EventInputPersisted)
	case event.ApprovalRequested:
		if e.Taken != nil {
			defer e.Taken()
		}
	case event.Diagnostic:
		if e.Code == "" {
			e.Code = runErrors().code(e.Err)
			item = event.Of(e)
		}
	}
	if !c.run.spoke && item.Kind() == telemetry.FrameMessageDelta {
		c.run.spoke = true
		c.run.span.Event(telemetry.EventFirstDelta)
	}
	b := item.AppendData(c.env.BeginEvent(c.out.Begin()), c.run.ref)
	c.out.Commit(c.env.EndEvent(b, item.Name()), item.Kind())
}

// finish ends the run on the wire: from here on the child is idle.
func (c *conn) finish() {
	r := c.run
	c.run = nil
	code := localagent.Code("")
	if r.finished.Outcome == localagent.OutcomeFailed {
		code = cmp.Or(runErrors().code(r.finished.Err), localagent.CodeExecutionFailed)
	}
	b := event.AppendFinished(c.env.BeginEvent(c.out.Begin()), r.ref, r.finished, code)
	c.out.Commit(c.env.EndEvent(b, localagent.EventRunFinished), telemetry.FrameRunFinished)
	r.span.Event(telemetry.EventTerminalQueued)
	runEnded(r.span, r.finished, code)
}

// turnCancel asks the active run to stop, as often as it likes.
func (c *conn) turnCancel(_ context.Context, q *call) localagent.Code {
	c.slot.Cancel(ErrUser)
	c.run.span.Event(telemetry.EventCancelRequested)
	c.succeed(q.id, resultCancelled)
	return ""
}

func (c *conn) approvalAnswer(_ context.Context, q *call) localagent.Code {
	if !c.run.job.Answer(q.answer.ApprovalID, q.answer.Allow) {
		c.cfg.Tel.ApprovalAnswered(q.answer.Allow, true)
		return localagent.CodeStaleApproval
	}
	c.cfg.Tel.ApprovalAnswered(q.answer.Allow, false)
	c.succeed(q.id, resultRecorded)
	return ""
}
