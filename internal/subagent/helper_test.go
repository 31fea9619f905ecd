package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memlog is a session in memory. It fails from the failAt-th append on.
type memlog struct {
	mu      sync.Mutex
	events  []session.Event
	appends int
	failAt  int
}

var errDisk = errors.New("disk full")

func (l *memlog) Append(_ context.Context, _ session.Durability, events ...session.Event) (session.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appends++
	if l.failAt > 0 && l.appends >= l.failAt {
		return session.NotWritten, errDisk
	}
	l.events = append(l.events, events...)
	return session.Durable, nil
}

func (l *memlog) of(kind session.Kind) []map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for _, ev := range l.events {
		if m, ok := ev.Payload.(map[string]any); ok && ev.Kind == kind {
			out = append(out, m)
		}
	}
	return out
}

func (l *memlog) kinds() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, ev := range l.events {
		out = append(out, string(ev.Kind))
	}
	return strings.Join(out, " ")
}

// events is the sink of the primary run.
type events struct {
	mu   sync.Mutex
	busy bool // one goroutine at a time
	list []string
	text []string
	err  func(runner.Event) error
}

func (s *events) Try(d runner.Delta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, d.Text)
	return true
}

func (s *events) Emit(_ context.Context, ev runner.Event) error {
	s.mu.Lock()
	if s.busy {
		panic("two goroutines emit at once")
	}
	s.busy = true
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.busy = false; s.mu.Unlock() }()
	switch e := ev.(type) {
	case runner.ActivityStarted:
		s.list = append(s.list, fmt.Sprintf("+%s %s", e.Path, e.Label))
	case runner.ActivityFinished:
		s.list = append(s.list, fmt.Sprintf("-%s %v", e.Path, e.OK))
	case runner.SegmentDone:
		s.text = append(s.text, e.Text)
	case runner.Notice:
		s.list = append(s.list, "! "+e.Summary)
	}
	if s.err != nil {
		return s.err(ev)
	}
	return nil
}

// reply answers one request.
type reply func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error

// scripted is a provider that answers the n-th request by its n-th reply, and
// every later one by its last.
type scripted struct {
	mu       sync.Mutex
	replies  []reply
	requests []provider.Request
}

func (s *scripted) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	s.mu.Lock()
	n := min(len(s.requests), len(s.replies)-1)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	return s.replies[n](ctx, req, emit)
}

func says(evs ...provider.Event) reply {
	return func(_ context.Context, _ provider.Request, emit func(provider.Event) error) error {
		for _, ev := range evs {
			if err := emit(ev); err != nil {
				return err
			}
		}
		return nil
	}
}

func fails(err error, evs ...provider.Event) reply {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
		return errors.Join(says(evs...)(ctx, req, emit), err)
	}
}

func hangs(ctx context.Context, _ provider.Request, _ func(provider.Event) error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func text(s string) provider.Event { return provider.Event{Kind: provider.EventText, Text: s} }

func cost(in, out int64) provider.Event {
	return provider.Event{Kind: provider.EventUsage, Usage: &provider.Usage{Input: &in, Output: &out, CacheRead: new(int64)}}
}

func calls(name string, args any) provider.Event {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: "call_" + name, Name: name, Arguments: string(raw)}}
}

// delegates calls the tool with tasks of these intents.
func delegates(concurrency int, intents ...string) reply {
	tasks := []map[string]any{}
	for _, i := range intents {
		tasks = append(tasks, map[string]any{"intent": i})
	}
	return says(text("Delegating."), calls(Name, map[string]any{"tasks": tasks, "concurrency": concurrency}))
}

// kid is one opened task of a test.
type kid struct {
	request Request
	log     *memlog
	model   *scripted
	closed  int
}

// world is a primary run whose tasks answer as tests say.
type world struct {
	t       *testing.T
	log     *memlog
	sink    *events
	model   *scripted
	replies func(r Request) []reply // of a task's model
	tools   []tool.Tool             // of tasks, beside the one that delegates
	guard   func(label string) runner.Guard
	schema  string
	levels  int
	limits  runner.Limits
	failAt  int // of child logs
	openErr error

	mu   sync.Mutex
	kids []*kid
	ids  int
}

func newWorld(t *testing.T, first reply) *world {
	return &world{t: t, log: &memlog{}, sink: &events{}, model: &scripted{replies: []reply{first, says(text("Parent done."))}}, levels: 2,
		replies: func(r Request) []reply { return []reply{says(text("I did "+r.Intent), cost(10, 5))} },
		limits:  runner.Limits{ContentBytes: 1 << 20, Segments: 512, Activities: 4096, ActivityIDBytes: 1024}}
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("id%d", w.ids)
}

func (w *world) registry(depth int, scope string) *tool.Registry {
	fs := memfs.New()
	d := New(Options{Open: w.open, FS: fs, Absolute: true, Depth: depth, Remaining: w.levels - depth, Scope: scope, SchemaRetries: 2})
	return tool.New(append([]tool.Tool{d}, w.tools...), tool.Options{})
}

func (w *world) config(log runner.Recorder, model provider.Provider, label string, depth int) runner.Config {
	c := runner.Config{Recorder: log, Provider: model, Tools: w.registry(depth, label), Env: tool.Env{Cwd: "/w", CanonicalCwd: "/w"},
		Limits: w.limits, RunID: "run-" + label, NewID: w.newID}
	if w.guard != nil {
		c.Guard = w.guard(label)
	}
	return c
}

func (w *world) open(_ context.Context, r Request) (*Child, error) {
	if w.openErr != nil {
		return nil, w.openErr
	}
	k := &kid{request: r, log: &memlog{failAt: w.failAt}, model: &scripted{replies: w.replies(r)}}
	w.mu.Lock()
	w.kids = append(w.kids, k)
	w.mu.Unlock()
	return &Child{SessionID: "s-" + r.Scope, Path: "/sessions/" + r.Scope, Provider: "house", Model: "m-" + r.Scope, Schema: w.schema,
		Begin: func(ctx context.Context) error {
			_, err := k.log.Append(ctx, session.Ordered, session.Event{Kind: session.KindTaskScope, Payload: map[string]any{}})
			return err
		},
		Config: func(context.Context) (runner.Config, error) {
			c := w.config(k.log, k.model, r.Scope, r.Depth)
			c.InputFields = map[string]any{"task_scope_version": 1}
			return c, nil
		},
		Close: func() { k.closed++ }}, nil
}

func (w *world) run(ctx context.Context) runner.Result {
	c := w.config(w.log, w.model, "", 0)
	c.Sink = w.sink
	return runner.Run(ctx, c, "go")
}

// report is the tool's result as the model got it.
type report struct {
	Summary summary      `json:"summary"`
	Results []taskResult `json:"results"`
}

func (w *world) report() report {
	w.t.Helper()
	results := w.log.of(session.KindToolResult)
	if len(results) == 0 {
		w.t.Fatal("no result was recorded")
	}
	var r report
	content := results[0]["result"].(map[string]any)["content"].(string)
	if err := json.Unmarshal([]byte(content), &r); err != nil {
		w.t.Fatalf("the result is no report: %v\n%s", err, content)
	}
	return r
}

// settled fails when an activity has no end, or more than one, or a session was
// not closed once.
func (w *world) settled() {
	w.t.Helper()
	open := map[string]int{}
	for _, line := range w.sink.list {
		path, _, _ := strings.Cut(line[1:], " ")
		switch line[0] {
		case '+':
			open[path] = 1
		case '-':
			if open[path]--; open[path] != 0 {
				w.t.Errorf("%s ended without a start", path)
			}
		}
	}
	for path, n := range open {
		if n != 0 {
			w.t.Errorf("%s has no end", path)
		}
	}
	for _, k := range w.kids {
		if k.closed != 1 {
			w.t.Errorf("%s was closed %d times", k.request.Scope, k.closed)
		}
	}
}

// fakeTool is a tool that runs a function.
type fakeTool struct {
	name string
	run  func(ctx context.Context, args json.RawMessage) tool.Result
}

func (f fakeTool) Definition() tool.Definition {
	return tool.Definition{Name: f.name, Parameters: json.RawMessage(`{}`)}
}

func (f fakeTool) Run(ctx context.Context, _ tool.Env, args json.RawMessage) tool.Result {
	return f.run(ctx, args)
}
