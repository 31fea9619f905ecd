package subagent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/telemetry"
)

// stallLimit is how long a task may do nothing (tools.md 5.2), retryWait how
// long the one retry of a failed provider waits (5.6).
const (
	stallLimit = 300 * time.Second
	retryWait  = 2 * time.Second
)

var (
	errStalled  = errors.New("the task did nothing for 300 seconds and was ended")
	errInternal = errors.New("the task failed because of an internal error")
)

// task is one delegated task. One goroutine works on it; what others see of it
// meanwhile are its watch and its sink.
type task struct {
	batch *batch
	Request
	path  runner.Path
	watch *watch
	sink  *sink
	meter meter
	log   *record

	place      int // in the call, from 1
	queued     time.Time
	span       telemetry.Span
	child      *Child
	retried    bool
	completed  bool
	structured map[string]any // of an answer with a schema
	output     string
	err        error // why it failed
	fatal      error // why the run ends
}

func newTask(b *batch, r Request) *task {
	t := &task{batch: b, Request: r, path: b.nest.Path() + runner.Path("/"+r.ID)}
	var parent *watch
	if s, ok := b.nest.Sink().(*sink); ok {
		parent = s.watch
	}
	t.watch = newWatch(parent)
	t.sink = &sink{nest: b.nest, base: t.path, id: r.ID, watch: t.watch}
	t.log = &record{watch: t.watch}
	return t
}

// announce shows the task. It comes again when its profile is known.
func (t *task) announce(ctx context.Context) error {
	label := fmt.Sprintf("%s · depth %d · %s", t.ID, t.Depth, redact.Display(t.Intent))
	return t.batch.nest.Emit(ctx, runner.ActivityStarted{Path: t.path, Kind: runner.ActivitySubagent, Label: label})
}

// do works the task off and ends its activity, whatever happens.
func (t *task) do(ctx context.Context) {
	ctx, t.span = t.batch.opt.Tel.Begin(ctx, telemetry.SpanSubagent)
	defer t.observed(ctx)
	t.began()
	t.guarded(ctx)
	if ctx.Err() != nil && t.err != nil && t.fatal == nil {
		t.err = context.Canceled
	}
	t.remains()
	_ = t.batch.nest.Record() // what it spent
	err := t.batch.nest.Emit(context.WithoutCancel(ctx), runner.ActivityFinished{Path: t.path, OK: t.completed})
	if t.fatal == nil {
		t.fatal = err
	}
}

// remains settles what the task has said, and lets go of the records: those of
// ten tasks may be large, and the last task may take long.
func (t *task) remains() {
	if !t.completed {
		if t.output = t.sink.partial(); t.output == "" {
			t.output = t.log.snapshot()
		}
	}
	t.log.tail = nil
}

// guarded keeps a panic inside the task.
func (t *task) guarded(ctx context.Context) {
	returned := false
	defer func() {
		if returned {
			return
		}
		_ = recover() // its text may hold anything
		if t.batch.opt.Crashed != nil {
			t.batch.opt.Crashed()
		}
		t.completed, t.err = false, errInternal
	}()
	t.err = t.run(ctx)
	t.completed = t.err == nil
	returned = true
}

func (t *task) run(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := t.watch.start(stallLimit, func() { cancel(errStalled) })
	defer stop()
	if err := t.open(ctx); err != nil {
		return err
	}
	defer t.child.Close()
	if t.fatal = t.announce(ctx); t.fatal != nil {
		return t.fatal
	}
	return t.converse(ctx)
}

// open does steps 1 to 6 of tools.md 5.3: the parent's session has the link to
// the child's before that does anything.
func (t *task) open(ctx context.Context) error {
	child, err := t.batch.opt.Open(ctx, t.Request)
	if err != nil {
		return err
	}
	link := session.Event{Kind: session.KindSubagentSession, Payload: map[string]any{"session_id": child.SessionID}}
	if err = t.batch.nest.Record(link); err == nil {
		err = child.Begin(ctx)
	}
	if err != nil {
		child.Close()
		return err
	}
	t.child = child
	return nil
}

// converse asks until the answer is what was asked for.
func (t *task) converse(ctx context.Context) error {
	var schema *checker
	if t.child.Schema != "" {
		var err error
		if schema, err = newChecker(t.child.Schema); err != nil {
			return err
		}
	}
	input, fields := firstMessage(t.Request, t.child.Schema), map[string]any(nil)
	for attempt := 0; ; attempt++ {
		if err := t.round(ctx, input, fields); err != nil {
			return err
		}
		if t.output = t.sink.answer(); schema == nil {
			return nil
		}
		value, problem := schema.check(t.output)
		if problem == nil {
			t.structured = value
			return nil
		}
		if attempt == t.batch.opt.SchemaRetries {
			return errors.New(problem.feedback(attempt, attempt, true))
		}
		input, fields = problem.feedback(attempt+1, t.batch.opt.SchemaRetries, false), automatic("output_schema")
	}
}

// automatic marks an input that no caller gave (decision 22).
func automatic(reason string) map[string]any {
	return map[string]any{"origin": nil, "auto_recovery": true, "reason": reason}
}

// round is one run and, where the provider failed without anything being
// changed, one more that goes on from there.
func (t *task) round(ctx context.Context, input string, fields map[string]any) error {
	err := t.once(ctx, input, fields)
	if err == nil || t.retried || !t.mayRetry(ctx, err) {
		return err
	}
	t.retried = true
	timer := time.NewTimer(retryWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err = t.once(ctx, "Continue", automatic("provider_retry"))
	if _, ok := errors.AsType[*provider.Error](err); ok {
		return fmt.Errorf("[provider retry exhausted after 2 attempts] %w", err)
	}
	return err
}

func (t *task) mayRetry(ctx context.Context, err error) bool {
	perr, ok := errors.AsType[*provider.Error](err)
	return ok && perr.Retryable && ctx.Err() == nil && t.fatal == nil && !t.sink.compacted && len(t.log.changed()) == 0
}

// once is one run of the child's session.
func (t *task) once(ctx context.Context, input string, fields map[string]any) error {
	cfg, err := t.child.Config(ctx)
	if err != nil {
		return err
	}
	all := maps.Clone(cfg.InputFields)
	if all == nil {
		all = make(map[string]any, len(fields))
	}
	maps.Copy(all, fields)
	cfg.InputFields = all
	t.tap(&cfg)
	t.sink.begin()
	res := runner.Run(ctx, cfg, input)
	switch {
	case t.sink.fatal != nil:
		t.fatal = t.sink.fatal
	case errors.Is(res.Err, runner.ErrDenied):
		t.fatal = runner.ErrDenied
	}
	if res.Err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return res.Err
}

// tap makes everything that the run does pass by the task.
func (t *task) tap(cfg *runner.Config) {
	cfg.Sink = t.sink
	t.log.dst = cfg.Recorder
	cfg.Recorder = t.log
	cfg.Provider = &tap{inner: cfg.Provider, task: t}
	if cfg.Guard != nil {
		cfg.Guard = pausing{Guard: cfg.Guard, watch: t.watch}
	}
	if cfg.Compaction != nil {
		c := *cfg.Compaction
		c.Provider = &tap{inner: c.Provider, task: t}
		cfg.Compaction = &c
	}
}
