package turn

import (
	"context"
	"errors"

	"magicode/internal/event"
	"magicode/internal/runner"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// Attachment is the session that a run works on. *attach.Attachment is one.
type Attachment interface {
	// Check is nil while the history snapshot still describes the file.
	Check(ctx context.Context) error
	// InputSnapshot projects the input that was just stored.
	InputSnapshot(ctx context.Context) (messageID, revision string, err error)
	// Refresh makes the snapshot that follows the run.
	Refresh(ctx context.Context) (revision string, err error)
	// TerminalRecorded reports whether the file says how the last turn ended.
	TerminalRecorded() bool
}

// Deps is what one run needs.
type Deps struct {
	Attachment Attachment
	// Prepare makes the runner's configuration without its Sink (runner.md 12).
	// What it wants to tell the user goes to notice.
	Prepare func(ctx context.Context, notice func(string)) (runner.Config, error)
	// Expand returns the prompt as it is stored and sent; nil: as it came. What
	// cannot be expanded is text in it.
	Expand func(ctx context.Context, prompt string) string
	Queue  *event.Queue
	NewID  func() string
	Tel    telemetry.Tel
}

// Run runs one turn to its end and says how it ended. It returns after every
// event but run.finished is in the queue.
func Run(ctx context.Context, d Deps, prompt string) event.Finished {
	s := &sink{queue: d.Queue, newID: d.NewID, input: d.Attachment.InputSnapshot}
	if err := validate(ctx, d); err != nil {
		return before(ctx, err)
	}
	preparing, span := d.Tel.Begin(ctx, telemetry.SpanRunPrepare)
	cfg, err := d.Prepare(preparing, func(text string) {
		_ = s.Emit(ctx, runner.Notice{Summary: text}) // a notice that cannot be delivered ends the run at its next event
	})
	span.End()
	if err != nil {
		return before(ctx, err)
	}
	cfg.Sink = s
	if d.Expand != nil {
		prompt = d.Expand(ctx, prompt)
	}
	res := runner.Run(ctx, cfg, prompt)
	return account(ctx, d, s, res)
}

func validate(ctx context.Context, d Deps) error {
	ctx, span := d.Tel.Begin(ctx, telemetry.SpanRunValidate)
	defer span.End()
	return d.Attachment.Check(ctx)
}

// before is the end of a run that stored nothing.
func before(ctx context.Context, err error) event.Finished {
	f := event.Finished{Outcome: localagent.OutcomeFailed, Persistence: localagent.PersistenceNotStarted, Err: err}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), event.ErrUndeliverable) {
		f.Outcome, f.Err = localagent.OutcomeCancelled, nil
	}
	return f
}

// degradedSummary tells the client not to resubmit by itself.
const degradedSummary = "Part of this turn is not in the session file. Do not submit it again automatically; reopen the session to see what was stored."

// account settles a run that the runner has ended (runner.md 23). It works
// without the run's context: a cancelled run is accounted for as well.
func account(ctx context.Context, d Deps, s *sink, res runner.Result) event.Finished {
	f := outcome(ctx, res)
	if err := s.settle(f.Outcome != localagent.OutcomeCompleted); err != nil {
		f.Outcome, f.Err = localagent.OutcomeFailed, err
	}
	if !res.Persisted {
		f.Persistence = localagent.PersistenceNotStarted
		return undelivered(d, f)
	}
	ctx = context.WithoutCancel(ctx)
	var lost *inputError
	degraded := res.Degraded || errors.As(res.Err, &lost) || !d.Attachment.TerminalRecorded()
	if degraded {
		_ = d.Queue.Emit(event.Diagnostic{Code: localagent.CodePersistenceFailed, Summary: degradedSummary})
	}
	revision, err := d.Attachment.Refresh(ctx)
	if err != nil {
		_ = d.Queue.Emit(event.Diagnostic{Err: err, Summary: "The history of this session could not be read again. Reopen the session."})
	}
	f.Revision, f.Persistence = revision, localagent.PersistenceDurable
	if degraded {
		f.Persistence = localagent.PersistenceDegraded
	}
	return undelivered(d, f)
}

func outcome(ctx context.Context, res runner.Result) event.Finished {
	switch {
	case res.Err == nil:
		return event.Finished{Outcome: localagent.OutcomeCompleted}
	case ctx.Err() != nil && !errors.Is(res.Err, runner.ErrContentLimit):
		return event.Finished{Outcome: localagent.OutcomeCancelled}
	default:
		return event.Finished{Outcome: localagent.OutcomeFailed, Err: res.Err}
	}
}

// undelivered overrides what the client can no longer be told.
func undelivered(d Deps, f event.Finished) event.Finished {
	if d.Queue.Undeliverable() {
		f.Outcome, f.Err = localagent.OutcomeFailed, event.ErrUndeliverable
	}
	return f
}
