package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/telemetry"
)

// run is the state of one run. One goroutine drives it; only text has a lock
// of its own, because a timer may flush it.
type run struct {
	Config
	rec   *recorder
	text  *textOut
	input string
	turn  []provider.Item // this turn's items after the input

	system, prompt provider.Item // of System and input, as they are sent
	lost           *response     // the last request, when it failed

	sequence   int // of the next request
	toolCalls  int
	usage      provider.Usage // of the last request
	spent      spending
	ids        map[string]bool // call ids used in this turn
	activities map[Path]bool
	openPaths  []Path        // started and not finished, in order
	nesting    chan struct{} // holds a token while nested work emits
	brokenRow  int
	pending    []addition // contexts that follow the result of the call that runs
	nudging    nudging
	repeats    repeats

	previewBytes int // of the previews that were stored

	continued bool // one automatic continuation per run (runner.md 15.1)
	reasoned  bool // one reasoning-only recovery per run (15.2)
	dangled   bool // one dangling-intent recovery per run (15.3)
	recovered bool // any recovery: no automatic compaction for the rest of the run

	asked       bool   // the model asked for a compaction
	guidance    string // what it wants preserved
	compactions int
	tally       tally
	finalText   string // of the answer, as the model sent it
	rejected    bool   // the provider once said that the prompt is too long
}

// reason says why the inner loop stopped.
type reason uint8

const (
	answered reason = iota
	// wantsCompact: the model asked for a compaction (magi_control).
	wantsCompact
	// full: the next request is at the soft threshold, or over the hard budget.
	full
	// tooLong: the provider said that the prompt is too long.
	tooLong
	failed
)

// Run runs one turn to its end. It returns when every record is written and
// every activity is ended; the context's end is seen at every step.
func Run(ctx context.Context, cfg Config, input string) Result {
	r := &run{Config: cfg, input: input, ids: make(map[string]bool), activities: make(map[Path]bool), nesting: make(chan struct{}, 1)}
	r.rec = &recorder{dst: cfg.Recorder, ctx: context.WithoutCancel(ctx)}
	r.text = &textOut{rec: r.rec, sink: cfg.Sink, limits: cfg.Limits, tel: cfg.Tel}
	defer r.text.stop()
	defer func() { r.accounted(telemetry.Current(ctx)) }()
	r.Env.ContextUsage = r.contextUsage

	if err := r.admit(); err != nil {
		return Result{Err: err}
	}
	if persisted, err := r.begin(ctx); err != nil {
		return Result{Persisted: persisted, Degraded: r.rec.degraded(), Err: err}
	}
	wait := r.background(ctx)
	err := r.outer(ctx)
	if err != nil {
		r.fail(ctx, err)
	}
	r.endActivities(ctx)
	wait()
	if lost := r.rec.takeLoss(); lost != "" {
		_ = r.Sink.Emit(r.rec.ctx, Notice{Summary: lost})
	}
	return Result{Persisted: true, Degraded: r.rec.degraded(), Err: err}
}

// background starts the turn's side work and returns what waits for it.
func (r *run) background(ctx context.Context) (wait func()) {
	if r.Background == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Background(ctx)
	}()
	return func() { <-done }
}

// outer decides what the inner loop's end means.
func (r *run) outer(ctx context.Context) error {
	if err := r.observedPreflight(ctx); err != nil {
		return err
	}
	for {
		why, err := r.loop(ctx)
		switch why {
		case answered:
			r.compactAfterAnswer(ctx)
			return nil
		case failed:
			return err
		default:
			if err := r.compactAndGoOn(ctx, why, err); err != nil {
				return err
			}
		}
	}
}

// begin stores the input and tells so: nothing precedes it (seed, decision 30).
func (r *run) begin(ctx context.Context) (persisted bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	payload := map[string]any{"origin": "user", "text": r.input}
	for k, v := range r.InputFields {
		if payload[k] = v; v == nil {
			delete(payload, k)
		}
	}
	ev := session.Event{Kind: session.KindUserInput, Payload: payload}
	if err := r.rec.write(session.Required, ev); err != nil {
		return false, fmt.Errorf("%w: %v", ErrInputAppend, err)
	}
	r.rec.persisted()
	if err := r.Sink.Emit(ctx, InputPersisted{Text: r.input}); err != nil {
		r.fail(ctx, err)
		return true, err
	}
	return true, nil
}

// fail reconciles what text there is and writes the terminal status.
func (r *run) fail(ctx context.Context, err error) {
	status, summary := "failed", errorSummary(err)
	if ctx.Err() != nil && !errors.Is(err, ErrContentLimit) {
		status, summary = "cancelled", ""
	}
	all := r.text.all()
	_ = r.closeSegment(r.rec.ctx)
	payload := map[string]any{"status": status, "assistant_text": all}
	if summary != "" {
		payload["error_summary"] = summary
	}
	records := []session.Event{{Kind: session.KindTurnStatus, Payload: payload}}
	_ = r.rec.write(session.Required, append(records, r.lost.aftermath()...)...)
}

// maxSummaryChars bounds a stored error summary (storage.md 6.4).
const maxSummaryChars = 2000

func errorSummary(err error) string {
	if err == nil {
		return ""
	}
	s := []rune(strings.TrimSpace(redact.Display(err.Error())))
	if len(s) > maxSummaryChars {
		s = s[:maxSummaryChars]
	}
	return string(s)
}

// notice tells of a decision, on the wire and in the file.
func (r *run) notice(ctx context.Context, level, message string) error {
	r.rec.later(session.Event{Kind: session.KindDiagnostic, Payload: map[string]any{"level": level, "message": message}})
	return r.Sink.Emit(ctx, Notice{Summary: message})
}

// endActivities ends what a cancellation or a failure cut off (decision 25).
func (r *run) endActivities(ctx context.Context) {
	for _, p := range r.openPaths {
		_ = r.Sink.Emit(r.rec.ctx, ActivityFinished{Path: p})
	}
	r.openPaths = nil
}
