package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/event"
	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeAttachment answers from fields.
type fakeAttachment struct {
	check, input, refresh error
	open                  bool // no terminal record
}

func (a *fakeAttachment) Check(context.Context) error { return a.check }
func (a *fakeAttachment) InputSnapshot(context.Context) (string, string, error) {
	return "user-message", "rev-1", a.input
}
func (a *fakeAttachment) Refresh(context.Context) (string, error) {
	if a.refresh != nil {
		return "", a.refresh
	}
	return "rev-2", nil
}
func (a *fakeAttachment) TerminalRecorded() bool { return !a.open }

type fakeLog struct{ fail bool }

func (l *fakeLog) Append(context.Context, session.Durability, ...session.Event) (session.Outcome, error) {
	if l.fail {
		return session.NotWritten, errors.New("no space")
	}
	return session.Durable, nil
}

type fakeProvider struct {
	stream func(ctx context.Context, n int, emit func(provider.Event) error) error
	n      int
}

func (p *fakeProvider) Stream(ctx context.Context, _ provider.Request, emit func(provider.Event) error) error {
	p.n++
	return p.stream(ctx, p.n, emit)
}

type fakeTools struct{}

func (fakeTools) Dispatch(_ context.Context, _ tool.Env, c tool.Call) tool.Result {
	return tool.Result{ToolName: c.Name, Success: c.Name != "fail", Content: "done"}
}

// rig runs a turn and notes what came out of the queue.
type rig struct {
	att    *fakeAttachment
	log    *fakeLog
	prov   *fakeProvider
	limits runner.Limits
	notice string
	prep   error
	queue  *event.Queue
	taken  []string
	cancel context.CancelCauseFunc
}

func newRig(stream func(ctx context.Context, n int, emit func(provider.Event) error) error) *rig {
	return &rig{att: &fakeAttachment{}, log: &fakeLog{}, prov: &fakeProvider{stream: stream},
		limits: runner.Limits{ContentBytes: 1 << 20, Segments: 8, Activities: 8, ActivityIDBytes: 64}}
}

func (r *rig) run(t *testing.T) event.Finished {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	r.cancel = cancel
	defer cancel(nil)
	wake := make(chan struct{}, 1)
	r.queue = event.NewQueue(telemetry.Tel{}, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, func() { cancel(event.ErrUndeliverable) })
	n := 0
	d := Deps{Attachment: r.att, Queue: r.queue, NewID: func() string { n++; return fmt.Sprintf("id%d", n) },
		Prepare: func(_ context.Context, notice func(string)) (runner.Config, error) {
			if r.notice != "" {
				notice(r.notice)
			}
			return runner.Config{Recorder: r.log, Provider: r.prov, Tools: fakeTools{}, Limits: r.limits, RunID: "run", NewID: func() string { n++; return fmt.Sprint(n) }}, r.prep
		}}
	done := make(chan event.Finished)
	go func() { done <- Run(ctx, d, "hi") }()
	for {
		select {
		case <-wake:
			r.take()
		case f := <-done:
			r.take()
			return f
		}
	}
}

// take drains the queue into readable lines.
func (r *rig) take() {
	for {
		it, ok := r.queue.Take()
		if !ok {
			return
		}
		var d map[string]any
		if err := json.Unmarshal(it.AppendData(nil, event.NewRef("s", "r")), &d); err != nil {
			panic(err)
		}
		delete(d, "session_id")
		delete(d, "run_id")
		line := it.Name()
		for _, k := range []string{"message_id", "activity_id", "part", "text", "name", "state", "last_part", "partial", "code", "revision"} {
			if v, ok := d[k]; ok {
				line += fmt.Sprintf(" %v", v)
			}
		}
		r.taken = append(r.taken, line)
	}
}

func text(s string) provider.Event { return provider.Event{Kind: provider.EventText, Text: s} }

func call(id, name string) provider.Event {
	return provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: id, Name: name, Arguments: `{"path":"."}`}}
}

// reply streams one list of events per request.
func reply(requests ...[]provider.Event) func(context.Context, int, func(provider.Event) error) error {
	return func(_ context.Context, n int, emit func(provider.Event) error) error {
		for _, e := range requests[min(n, len(requests))-1] {
			if err := emit(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// joined drops deltas: their cuts depend on timing.
func withoutDeltas(lines []string) []string {
	var out []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "message.delta") {
			out = append(out, l)
		}
	}
	return out
}

func TestToolTurnOnTheWire(t *testing.T) {
	r := newRig(reply([]provider.Event{text("Before. "), call("c", "list_files")}, []provider.Event{text("After.")}))
	f := r.run(t)
	if diff := cmp.Diff(event.Finished{Outcome: "completed", Persistence: "durable", Revision: "rev-2"}, f); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"input.persisted user-message rev-1",
		"message.reconcile id1 0 Before.  true true",
		"activity id2 list_files . started",
		"activity id2 list_files . completed",
		"message.reconcile id3 0 After. true true",
		"message.reconcile id1 0 Before.  true false",
		"message.reconcile id3 0 After. true false",
	}
	if diff := cmp.Diff(want, withoutDeltas(r.taken)); diff != "" {
		t.Error(diff)
	}
}

func TestLongTextComesInParts(t *testing.T) {
	long := strings.Repeat("é", 5000)
	r := newRig(reply([]provider.Event{text(long)}))
	r.run(t)
	joined := map[string]string{} // by the partial flag
	for _, l := range withoutDeltas(r.taken) {
		f := strings.Fields(l)
		if f[0] != "message.reconcile" {
			continue
		}
		if len(f[3]) > localagent.MaxLiveTextBytes {
			t.Errorf("a part of %d bytes", len(f[3]))
		}
		joined[f[5]] += f[3]
	}
	if diff := cmp.Diff(map[string]string{"true": long, "false": long}, joined); diff != "" {
		t.Error(diff)
	}
}

func TestEndsBeforeTheInput(t *testing.T) {
	stale := errors.New("stale")
	for name, c := range map[string]struct {
		set  func(r *rig)
		want event.Finished
	}{
		"stale":   {func(r *rig) { r.att.check = stale }, event.Finished{Outcome: "failed", Persistence: "not_started", Err: stale}},
		"prepare": {func(r *rig) { r.prep = stale }, event.Finished{Outcome: "failed", Persistence: "not_started", Err: stale}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(reply([]provider.Event{text("never")}))
			c.set(r)
			f := r.run(t)
			if f.Outcome != c.want.Outcome || f.Persistence != c.want.Persistence || !errors.Is(f.Err, stale) || len(r.taken) != 0 || r.prov.n != 0 {
				t.Errorf("%+v, %v", f, r.taken)
			}
		})
	}
	r := newRig(reply([]provider.Event{text("never")}))
	r.log.fail = true
	if f := r.run(t); f.Outcome != "failed" || f.Persistence != "not_started" || !errors.Is(f.Err, runner.ErrInputAppend) || len(r.taken) != 0 {
		t.Errorf("%+v %v", f, r.taken)
	}
}

func TestInputThatCannotBeProjected(t *testing.T) {
	limit := errors.New("history limit")
	r := newRig(reply([]provider.Event{text("never")}))
	r.att.input, r.att.refresh = limit, limit
	f := r.run(t)
	if f.Outcome != "failed" || f.Persistence != "degraded" || !errors.Is(f.Err, limit) || f.Revision != "" || r.prov.n != 0 {
		t.Errorf("%+v", f)
	}
	for _, l := range r.taken {
		if strings.HasPrefix(l, "input.persisted") {
			t.Error("acknowledged")
		}
	}
}

func TestCancelledKeepsThePartialText(t *testing.T) {
	stop := errors.New("stop")
	var r *rig
	r = newRig(func(ctx context.Context, _ int, emit func(provider.Event) error) error {
		_ = emit(text("partial reply"))
		r.cancel(stop)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	f := r.run(t)
	if diff := cmp.Diff(event.Finished{Outcome: "cancelled", Persistence: "durable", Revision: "rev-2"}, f); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"input.persisted user-message rev-1", "message.reconcile id1 0 partial reply true true"}, withoutDeltas(r.taken)); diff != "" {
		t.Error(diff)
	}
}

func TestDegradedSaysSo(t *testing.T) {
	r := newRig(reply([]provider.Event{text("x")}))
	r.att.open = true
	r.att.refresh = errors.New("gone")
	f := r.run(t)
	if f.Outcome != "completed" || f.Persistence != "degraded" || f.Revision != "" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(strings.Join(r.taken, "\n"), "diagnostic "+string(localagent.CodePersistenceFailed)) {
		t.Errorf("%v", r.taken)
	}
}

func TestFailureNamesItsLimit(t *testing.T) {
	r := newRig(reply([]provider.Event{text("12345"), text("67890")}))
	r.limits.ContentBytes = 7
	f := r.run(t)
	if f.Outcome != "failed" || !errors.Is(f.Err, runner.ErrContentLimit) || f.Persistence != "durable" {
		t.Errorf("%+v", f)
	}
	if got := withoutDeltas(r.taken); got[len(got)-1] != "message.reconcile id1 0 12345 true true" {
		t.Errorf("%v", got)
	}
}

func TestUndeliverable(t *testing.T) {
	var r *rig
	r = newRig(func(ctx context.Context, _ int, emit func(provider.Event) error) error {
		r.queue.Lose()
		return emit(text("x"))
	})
	f := r.run(t)
	if f.Outcome != "failed" || !errors.Is(f.Err, event.ErrUndeliverable) {
		t.Errorf("%+v", f)
	}
}

func TestNoticesAreSafeToShow(t *testing.T) {
	r := newRig(reply([]provider.Event{text("x")}))
	r.notice = "a notice\x1b[2J " + strings.Repeat("long ", 500)
	r.run(t)
	if r.taken[0] != "diagnostic execution_notice" {
		t.Errorf("%v", r.taken[0])
	}
}

// TestExpandedPrompt: what is stored and sent is the expanded prompt; nothing is
// expanded for a turn that cannot begin.
func TestExpandedPrompt(t *testing.T) {
	for name, stale := range map[string]error{"stored": nil, "stale": errors.New("stale")} {
		t.Run(name, func(t *testing.T) {
			var stored []session.Event
			asked := 0
			queue := event.NewQueue(telemetry.Tel{}, func() {}, func() {})
			Run(t.Context(), Deps{
				Attachment: &fakeAttachment{check: stale}, Queue: queue, NewID: func() string { return "id" },
				Expand: func(_ context.Context, prompt string) string { asked++; return prompt + " expanded" },
				Prepare: func(context.Context, func(string)) (runner.Config, error) {
					return runner.Config{Recorder: recorderFunc(func(events []session.Event) { stored = append(stored, events...) }),
						Provider: &fakeProvider{stream: reply([]provider.Event{text("x")})}, Limits: runner.Limits{ContentBytes: 99, Segments: 9, Activities: 9, ActivityIDBytes: 9},
						NewID: func() string { return "id" }}, nil
				},
			}, "prompt")
			if stale != nil {
				if asked != 0 || len(stored) != 0 {
					t.Errorf("expanded %d times, %d records", asked, len(stored))
				}
				return
			}
			if asked != 1 || len(stored) == 0 || stored[0].Payload.(map[string]any)["text"] != "prompt expanded" {
				t.Errorf("expanded %d times, %v", asked, stored)
			}
		})
	}
}

type recorderFunc func([]session.Event)

func (f recorderFunc) Append(_ context.Context, _ session.Durability, events ...session.Event) (session.Outcome, error) {
	f(events)
	return session.Durable, nil
}
