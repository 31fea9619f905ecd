package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/telemetry"
)

// Compaction replaces the session's context by a summary of it (runner.md 27).
type Compaction struct {
	Provider  provider.Provider // made for the purpose compaction
	Request   provider.Request  // template: model, level, conversation id
	Selection provider.Selection
	// Hard is the budget of the compaction's own model; 0: none.
	Hard   int
	System string // what a summary must hold
	// Begin reads the log up to its last carry records. replayed is the
	// conversation before them.
	Begin func(ctx context.Context, carry int) (Rotation, error)
	// Replay is the conversation after a commit, without the turn that is open.
	Replay func(ctx context.Context) ([]provider.Item, error)
}

// Rotation is one compaction between its begin and its commit.
type Rotation interface {
	// Replayed is the conversation that is summarised.
	Replayed() []provider.Item
	// Commit puts the checkpoint in the place of what it summarises.
	Commit(ctx context.Context, summary string) (session.Outcome, error)
}

// errSummary: the model gave no summary.
var errSummary = errors.New("the compaction gave an empty summary")

func (r *run) observedPreflight(ctx context.Context) error {
	ctx, span := r.Tel.Begin(ctx, telemetry.SpanRunPreflight)
	defer span.End()
	err := r.preflight(ctx)
	if errors.Is(err, ErrTooLarge) {
		span.Fail(telemetry.CodeOf("prompt_too_long"))
	}
	return err
}

// preflight compacts before the first request when that does not fit. The
// input is stored and acknowledged already; it is carried over (decision 30).
func (r *run) preflight(ctx context.Context) error {
	if !r.overHard() {
		return nil
	}
	if err := r.compact(ctx, 1, ""); err != nil {
		return err
	}
	if r.overHard() {
		return ErrTooLarge
	}
	return nil
}

// compactAfterAnswer makes room for the next turn. The answer stands whatever
// becomes of it (decision 12).
func (r *run) compactAfterAnswer(ctx context.Context) {
	if !r.mayCompactByItself() || ctx.Err() != nil {
		return
	}
	next := []provider.Item{message("assistant", r.finalText), message("user", "continue")}
	if !r.Budget.over(r.project() + r.Budget.CountItems(next)) {
		return
	}
	_ = r.compact(ctx, 0, "") // it has told the user
}

// compactAndGoOn compacts in the middle of a turn and lets the loop go on.
func (r *run) compactAndGoOn(ctx context.Context, why reason, cause error) error {
	if !r.mayCompact() || why == full && !r.Budget.Auto {
		if cause == nil {
			cause = ErrTooLarge
		}
		return cause
	}
	status := session.Event{Kind: session.KindTurnStatus, Payload: map[string]any{"status": "compaction_required", "assistant_text": r.text.all()}}
	if err := r.rec.write(session.Ordered, status); err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	guidance := r.guidance
	r.asked, r.guidance = false, ""
	if err := r.compact(ctx, 0, guidance); err != nil {
		return err
	}
	ev := session.Event{Kind: session.KindUserInput, Payload: map[string]any{"text": "continue", "origin": "automatic_compaction"}}
	if err := r.rec.write(session.Required, ev); err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	r.input, r.turn, r.tally = "continue", nil, tally{}
	if r.overHard() || why != wantsCompact && r.overSoftNow() {
		return ErrTooLarge
	}
	return context.Cause(ctx)
}

// overSoftNow: a compaction that leaves the context over its threshold would
// only be followed by the next one.
func (r *run) overSoftNow() bool {
	return r.Budget.Enabled && r.Budget.over(r.project())
}

// compact runs one compaction as an activity. Its failure is told once, with
// which file is in force; what it means for the run is the caller's business.
func (r *run) compact(ctx context.Context, carry int, guidance string) error {
	if err := r.closeSegment(ctx); err != nil {
		return err
	}
	ctx, span := r.compacting(ctx, carry)
	defer span.End()
	r.compactions++
	path := Path("compaction/" + strconv.Itoa(r.compactions))
	if err := r.rec.write(session.Ordered); err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	if err := r.startActivity(ctx, path, ActivityCompaction, "compaction"); err != nil {
		return err
	}
	committed, err := r.summarise(ctx, carry, guidance)
	if err != nil {
		span.Fail(0)
	} else if span.On() {
		span.Int(telemetry.KeyTokensAfter, int64(r.project()))
	}
	if e := r.finishActivity(r.rec.ctx, path, err == nil); err == nil {
		err = e
	}
	if err != nil && ctx.Err() == nil {
		force := "the session stays as it was"
		if committed {
			force = "the compacted session is in force"
		}
		why := errorSummary(err)
		if file := (fileError{}); errors.As(err, &file) {
			why = file.what // the cause may name a path
		}
		_ = r.Sink.Emit(r.rec.ctx, Notice{Summary: redact.Cut("Compaction failed: "+why+"; "+force+".", maxNoticeBytes)})
	}
	return err
}

// maxNoticeBytes bounds the notice of a failed compaction (runner.md 27.7).
const maxNoticeBytes = 512

// summarise asks for the summary and commits it.
func (r *run) summarise(ctx context.Context, carry int, guidance string) (committed bool, err error) {
	c := r.Compaction
	rot, err := c.Begin(ctx, carry)
	if err != nil {
		return false, fileError{"the session file could not be read", err}
	}
	summary, err := r.summaryOf(ctx, rot.Replayed(), guidance)
	if err != nil {
		return false, err
	}
	outcome, err := rot.Commit(r.rec.ctx, summary)
	if outcome == session.NotWritten {
		return false, fileError{"the session file could not be written", errors.Join(err, errNotStored)}
	}
	history, err := c.Replay(r.rec.ctx)
	if err != nil {
		return true, fileError{"the compacted session could not be read", err}
	}
	r.History, r.tally = history, tally{}
	r.Request.Compacted = true
	return true, nil
}

// fileError is trouble with the session file. Its cause is for the log, what for the wire.
type fileError struct {
	what  string
	cause error
}

func (e fileError) Error() string { return e.what + ": " + e.cause.Error() }
func (e fileError) Unwrap() error { return e.cause }

// summaryOf asks for a summary of the conversation, shortened if it must be. A
// model that takes less than its budget says is asked once more with half.
func (r *run) summaryOf(ctx context.Context, conversation []provider.Item, guidance string) (string, error) {
	c := r.Compaction
	head := []provider.Item{{Kind: provider.ItemMessage, Role: "system", Text: c.System}}
	tail := []provider.Item{message("user", summaryInstruction(guidance))}
	req := c.Request
	if !r.Budget.Enabled {
		req.Items = slices.Concat(head, conversation, tail)
		return r.askSummary(ctx, req)
	}
	limit := c.Hard
	if limit <= 0 {
		limit = math.MaxInt
	}
	var ok bool
	if req.Items, ok = fit(head, conversation, tail, limit, r.Budget.CountItems); !ok {
		return "", ErrTooLarge
	}
	summary, err := r.askSummary(ctx, req)
	if perr := (*provider.Error)(nil); !errors.As(err, &perr) || perr.Kind != provider.ErrPromptTooLong {
		return summary, err
	}
	if req.Items, ok = fit(head, conversation, tail, r.Budget.CountItems(req.Items)/2, r.Budget.CountItems); !ok {
		return "", err
	}
	return r.askSummary(ctx, req)
}

func summaryInstruction(guidance string) string {
	text := "Write the summary of the conversation above now."
	if guidance != "" {
		text += "\n\nThe agent asks to preserve in particular:\n" + guidance
	}
	return text
}

// askSummary streams the summary. Its usage counts like any request of the run.
func (r *run) askSummary(ctx context.Context, req provider.Request) (string, error) {
	req.RequestSequence = r.sequence
	r.sequence++
	id := usageID(r.RunID, "compaction", req.RequestSequence)
	r.rec.later(usageEvent(id, req.RequestSequence, provider.Usage{}, false))
	var b strings.Builder
	var usage *provider.Usage
	err := r.Compaction.Provider.Stream(ctx, req, func(ev provider.Event) error {
		switch ev.Kind {
		case provider.EventText:
			b.WriteString(ev.Text)
			if b.Len() > r.Limits.ContentBytes {
				return ErrContentLimit
			}
		case provider.EventUsage:
			usage = ev.Usage
		}
		return context.Cause(ctx)
	})
	if usage != nil {
		r.spent.add(*usage)
		r.rec.later(usageEvent(id, req.RequestSequence, *usage, err == nil && usage.Output != nil))
	}
	if err != nil {
		return "", fmt.Errorf("ask for a summary: %w", err)
	}
	summary := cleanSummary(b.String())
	if summary == "" {
		return "", errSummary
	}
	return summary, nil
}

// cleanSummary trims, blanks control characters and redacts (runner.md 27.6).
func cleanSummary(s string) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return ' '
		}
		return c
	}, s)
	return redact.Text(strings.TrimSpace(s))
}
