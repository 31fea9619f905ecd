package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// stored is one appended record, as a reader would see it.
type stored struct {
	kind    session.Kind
	payload map[string]any
}

// fakeLog records appends and can be told to fail from the n-th on.
type fakeLog struct {
	mu      sync.Mutex
	records []stored
	syncs   int
	appends int
	failAt  int // 1-based append that fails, and all after it; 0: none
	// failKind is a kind whose appends fail.
	failKind session.Kind
}

func (l *fakeLog) Append(_ context.Context, d session.Durability, events ...session.Event) (session.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appends++
	if l.failAt > 0 && l.appends >= l.failAt {
		return session.NotWritten, fmt.Errorf("disk full")
	}
	for _, e := range events {
		if e.Kind == l.failKind {
			return session.NotWritten, fmt.Errorf("disk full")
		}
		b, err := json.Marshal(e.Payload)
		if err != nil {
			return session.NotWritten, err
		}
		var p map[string]any
		if err := json.Unmarshal(b, &p); err != nil {
			return session.NotWritten, err
		}
		l.records = append(l.records, stored{e.Kind, p})
	}
	if d == session.Required {
		l.syncs++
	}
	return session.Durable, nil
}

func (l *fakeLog) kinds() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, r := range l.records {
		out = append(out, string(r.kind))
	}
	return strings.Join(out, " ")
}

// behind returns the kinds behind the first record of a kind.
func (l *fakeLog) behind(kind session.Kind) string {
	_, rest, _ := strings.Cut(l.kinds()+" ", string(kind)+" ")
	return strings.TrimSpace(rest)
}

func (l *fakeLog) of(kind session.Kind) []map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for _, r := range l.records {
		if r.kind == kind {
			out = append(out, r.payload)
		}
	}
	return out
}

// reply is what the fake provider does with one request.
type reply func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error

type fakeProvider struct {
	replies  []reply
	requests []provider.Request
}

func (p *fakeProvider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	p.requests = append(p.requests, req)
	n := len(p.requests) - 1
	if n >= len(p.replies) {
		n = len(p.replies) - 1
	}
	return p.replies[n](ctx, req, emit)
}

func text(s string) provider.Event { return provider.Event{Kind: provider.EventText, Text: s} }

func callEvent(id, name, args string) provider.Event {
	return provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: id, Name: name, Arguments: args}}
}

func usage(in, out int64) provider.Event {
	return provider.Event{Kind: provider.EventUsage, Usage: &provider.Usage{Input: &in, Output: &out}}
}

// says streams events and completes.
func says(events ...provider.Event) reply {
	return func(_ context.Context, _ provider.Request, emit func(provider.Event) error) error {
		for _, e := range events {
			if err := emit(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// breaks streams events and then fails.
func breaks(err error, events ...provider.Event) reply {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
		if e := says(events...)(ctx, req, emit); e != nil {
			return e
		}
		return err
	}
}

// hangs streams events and then waits for the end of the run.
func hangs(events ...provider.Event) reply {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
		if e := says(events...)(ctx, req, emit); e != nil {
			return e
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
}

// fakeTools answers every call from a function, and notes the order.
type fakeTools struct {
	run   func(tool.Call) tool.Result
	calls []tool.Call
}

func (f *fakeTools) Dispatch(_ context.Context, _ tool.Env, c tool.Call) tool.Result {
	f.calls = append(f.calls, c)
	if f.run != nil {
		return f.run(c)
	}
	return tool.Result{ToolName: c.Name, Success: true, Content: "ok " + c.ID}
}

// tape is a sink that keeps a readable line per event.
type tape struct {
	mu      sync.Mutex
	lines   []string
	deltas  map[int]string
	full    bool // Try refuses
	failOn  string
	onEvent func(Event)
}

func (t *tape) Try(d Delta) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full {
		return false
	}
	if t.deltas == nil {
		t.deltas = map[int]string{}
	}
	t.deltas[d.Segment] += d.Text
	return true
}

func (t *tape) Emit(_ context.Context, ev Event) error {
	line := ""
	switch e := ev.(type) {
	case InputPersisted:
		line = "input"
	case SegmentDone:
		line = fmt.Sprintf("segment %d %q closed=%v", e.Segment, e.Text, e.Closed)
	case ActivityStarted:
		line = fmt.Sprintf("start %s %s", e.Path, e.Label)
	case ActivityFinished:
		line = fmt.Sprintf("finish %s ok=%v", e.Path, e.OK)
	case Notice:
		line = "notice"
	}
	t.mu.Lock()
	t.lines = append(t.lines, line)
	fail := t.failOn != "" && strings.HasPrefix(line, t.failOn)
	t.mu.Unlock()
	if t.onEvent != nil {
		t.onEvent(ev)
	}
	if fail {
		return fmt.Errorf("sink failed on %s", line)
	}
	return nil
}

// bench is one run's surroundings.
type bench struct {
	log   *fakeLog
	prov  *fakeProvider
	tools *fakeTools
	tape  *tape
	cfg   Config
}

func newBench(replies ...reply) *bench {
	b := &bench{log: &fakeLog{}, prov: &fakeProvider{replies: replies}, tools: &fakeTools{}, tape: &tape{}}
	n := 0
	b.cfg = Config{
		Recorder: b.log, Provider: b.prov, Tools: b.tools, Sink: b.tape, RunID: "run", System: "SYSTEM",
		Limits: Limits{ContentBytes: 1 << 20, Segments: 512, Activities: 4096, ActivityIDBytes: 1024},
		NewID:  func() string { n++; return fmt.Sprintf("id%d", n) },
	}
	return b
}

func (b *bench) run(t *testing.T, ctx context.Context) Result {
	t.Helper()
	return Run(ctx, b.cfg, "the question")
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
