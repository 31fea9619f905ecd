package attach

import (
	"context"
	"errors"
	"fmt"

	"magicode/internal/history"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/telemetry"
)

// Attachment is a session that the child owns: its handle, what it runs with,
// and the one history snapshot that clients page through. Like the service, it
// is used from one goroutine at a time; records may be appended meanwhile from
// others.
type Attachment struct {
	service  *Service
	handle   handle
	follower *follower

	selection provider.Selection
	notices   []string
	history   *history.Snapshot
	stale     error // why the snapshot is no longer good, for good
}

// ID is the session's id.
func (a *Attachment) ID() string { return a.handle.ID() }

// Handle is the session's handle. The service closes it.
func (a *Attachment) Handle() *session.Handle {
	h, _ := a.handle.(*session.Handle)
	return h
}

// Durable reports whether the session's file exists.
func (a *Attachment) Durable() bool { return a.handle.Durable() }

// Revision names the history snapshot.
func (a *Attachment) Revision() string { return a.history.Revision() }

// Notices are what the open has to say, never nil.
func (a *Attachment) Notices() []string { return a.notices }

// Selection is what the next turn runs with.
func (a *Attachment) Selection() provider.Selection { return a.selection }

// Select changes it. The caller records the choice.
func (a *Attachment) Select(sel provider.Selection) { a.selection = sel }

// Scope is the ceiling of a delegated session, nil for any other.
func (a *Attachment) Scope() *Scope { return a.facts().scope }

// Title is the session's title, "" when it has none.
func (a *Attachment) Title() string { return a.facts().title }

// Prompts is the number of inputs so far, automatic ones included: the number
// of the turn that is open or was last.
func (a *Attachment) Prompts() int { return a.facts().prompts }

// TerminalRecorded reports whether the file says how the last turn ended
// (runner.md 23). A log that was changed from outside is read again: with fewer
// records than were stored it has lost some of the turn, whatever it ends with.
func (a *Attachment) TerminalRecorded() bool {
	if !a.follower.gap() && a.knownStale() {
		stored := a.follower.records()
		if a.Rebase(context.Background()) != nil {
			return false
		}
		if a.follower.records() < stored {
			a.follower.owe()
		}
	}
	return !a.facts().owed
}

func (a *Attachment) facts() facts {
	f, _ := a.follower.facts() // an error was dealt with when the session was opened
	return f
}

// Check is nil while the history snapshot describes the file. Once it does not,
// it never does again (protocol: invalidation stays sticky). It costs a stat
// where the file has rested, else a reading of it (decision 28). The error
// wraps ErrStale, or what made the last snapshot fail, or the context's cause.
func (a *Attachment) Check(ctx context.Context) error {
	if a.stale != nil {
		return a.stale
	}
	err := a.handle.Unchanged(ctx)
	if err == nil {
		return nil
	}
	if cerr := canceled(ctx); cerr != nil {
		return cerr
	}
	a.stale = fmt.Errorf("%w: %v", ErrStale, err)
	return a.stale
}

// InputSnapshot projects the input that was just stored: the id of the last
// user message and the revision it was seen in. That snapshot is thrown away.
func (a *Attachment) InputSnapshot(ctx context.Context) (messageID, revision string, err error) {
	if a.follower.gap() {
		if err := a.Rebase(ctx); err != nil {
			return "", "", err
		}
	}
	s, err := a.take(ctx, "input_persisted")
	if err != nil {
		return "", "", err
	}
	return s.LastUser(), s.Revision(), nil
}

// Refresh makes the snapshot that follows a run and returns its revision.
// Usually it reads nothing, because the folds have followed every record. Only
// after a record that was lost, or stored without certainty, the file decides
// again. When Refresh fails, the snapshot before it is stale.
func (a *Attachment) Refresh(ctx context.Context) (revision string, err error) {
	if err = a.resume(ctx); err == nil {
		err = a.snap(ctx, "turn_end")
	}
	if err != nil {
		a.stale = err
		return "", err
	}
	return a.history.Revision(), nil
}

// Rebase makes the folds begin anew from the log that a compaction has put in
// place of the old one. Until the next Refresh the snapshot is that of before.
func (a *Attachment) Rebase(ctx context.Context) error {
	f, torn, err := a.service.reload(ctx, a.handle)
	if err != nil {
		return fmt.Errorf("read session again: %w", err)
	}
	if _, err := f.facts(); err != nil {
		return err
	}
	if torn {
		f.setTorn()
	}
	next := f.state()
	// A prompt from before the checkpoint still waits for its end.
	next.facts.owed = next.facts.owed || a.facts().owed
	a.follower.swap(next)
	return nil
}

// resume makes the folds agree with the file where they may not.
func (a *Attachment) resume(ctx context.Context) error {
	if a.follower.gap() {
		return a.Rebase(ctx)
	}
	if a.TerminalRecorded() && !a.knownStale() {
		return nil
	}
	err := a.handle.Unchanged(ctx)
	if err == nil || canceled(ctx) != nil {
		return err
	}
	return a.Rebase(ctx)
}

// knownStale asks without looking at the file: a handle that does not know
// answers an ended context with its cause.
func (a *Attachment) knownStale() bool {
	ended, end := context.WithCancel(context.Background())
	end()
	return errors.Is(a.handle.Unchanged(ended), ErrStale)
}

func (a *Attachment) snap(ctx context.Context, trigger string) error {
	s, err := a.take(ctx, trigger)
	if err != nil {
		return err
	}
	a.history = s
	return nil
}

// take makes a snapshot. trigger is telemetry's word for what wants one.
func (a *Attachment) take(ctx context.Context, trigger string) (*history.Snapshot, error) {
	_, span := a.service.opts.Tel.Begin(ctx, telemetry.SpanHistoryProject)
	defer span.End()
	s, err := a.follower.snapshot(a.service.opts.NewID())
	projected(span, trigger, s, err)
	if err != nil {
		return nil, fmt.Errorf("project session: %w", mapped(err))
	}
	return s, nil
}

// projected describes a projection to telemetry.
func projected(span telemetry.Span, trigger string, s *history.Snapshot, err error) {
	if !span.On() {
		return
	}
	span.Str(telemetry.KeyHistoryTrigger, telemetry.WordOf(trigger))
	switch {
	case errors.Is(err, history.ErrLimit):
		span.Fail(telemetry.CodeOf("history_limit"))
	case errors.Is(err, history.ErrContent):
		span.Fail(telemetry.CodeOf("content_limit"))
	case err != nil:
		span.Fail(0)
	default:
		span.Int(telemetry.KeyHistoryParts, int64(s.Parts()))
		span.Int(telemetry.KeyHistoryBytes, int64(s.Bytes()))
		span.Int(telemetry.KeyHistoryPages, int64(s.Pages()))
		span.Bool(telemetry.KeyHistoryComplete, s.Complete())
	}
}
