package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/exchange"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is one scripted response of the fake server.
type answer struct {
	err    error // of the round trip
	delay  time.Duration
	status int // 0 is 200
	header http.Header
	body   []step
}

// step is one thing that a body does: wait, then give data, or end.
type step struct {
	wait time.Duration
	data string
	err  error
	hang bool
}

func data(s string) []step { return []step{{data: s}} }

// server is a RoundTripper that answers from a script and notes what it saw.
type server struct {
	mu     sync.Mutex
	script []answer
	bodies []string
	header []http.Header
	at     []time.Time
	closed int
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.bodies, s.header, s.at = append(s.bodies, string(sent)), append(s.header, req.Header), append(s.at, time.Now())
	if len(s.script) == 0 {
		s.mu.Unlock()
		return nil, errors.New("no answer left")
	}
	a := s.script[0]
	s.script = s.script[1:]
	s.mu.Unlock()
	if !sleep(req.Context(), a.delay) {
		return nil, req.Context().Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.status == 0 {
		a.status = 200
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: &scripted{ctx: req.Context(), steps: append([]step(nil), a.body...), server: s}}, nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

type scripted struct {
	ctx    context.Context
	steps  []step
	server *server
}

func (b *scripted) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, b.ctx.Err()
	}
	if len(b.steps) == 0 {
		return 0, io.EOF
	}
	s := &b.steps[0]
	if s.hang {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	if !sleep(b.ctx, s.wait) {
		return 0, b.ctx.Err()
	}
	s.wait = 0
	n := copy(p, s.data)
	if s.data = s.data[n:]; s.data == "" {
		err := s.err
		b.steps = b.steps[1:]
		return n, err
	}
	return n, nil
}

func (b *scripted) Close() error {
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	b.server.closed++
	return nil
}

// words is a parser whose events are words.
type words struct {
	sink  *exchange.Sink
	state exchange.State
	model string
	tier  string
}

func newWords(s *exchange.Sink) exchange.Parser { return &words{sink: s} }

func (w *words) Event(data []byte) error {
	word, rest, _ := strings.Cut(string(data), " ")
	n := int64(len(rest))
	switch word {
	case "text":
		w.sink.TextBytes([]byte(rest))
	case "think":
		w.sink.ReasoningBytes([]byte(rest))
	case "tool":
		w.sink.ToolProgress()
	case "call":
		w.sink.Emit(provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: rest}})
	case "usage":
		w.sink.Usage(provider.Usage{Input: &n})
	case "output":
		w.sink.Usage(provider.Usage{Output: &n})
	case "alive":
		w.sink.Alive()
	case "model":
		w.model = rest
	case "tier":
		w.tier = rest
	case "terminal":
		w.sink.Progress()
		w.state = exchange.Terminal
	case "final":
		w.sink.Progress()
		w.state = exchange.Final
	case "failed":
		return exchange.Failed("reported", rest, data)
	case "plain":
		return exchange.Plain("%s", rest)
	case "odd":
		return errors.New(rest)
	}
	return nil
}

func (w *words) State() exchange.State { return w.state }
func (w *words) Finish(bool) error     { return nil }
func (w *words) Model() string         { return w.model }
func (w *words) Tier() string          { return w.tier }

func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("data: " + l + "\n\n")
	}
	return b.String()
}

// harness runs one call against a script.
type harness struct {
	server *server
	call   exchange.Call
	engine *exchange.Engine
	got    []provider.Event
	emit   func(provider.Event) error // nil collects
}

func newHarness(script ...answer) *harness {
	var b body.Builder
	b.Lit(`{"x":1}`)
	u, err := url.Parse("http://user:pw@host.test:8080/v1/responses?k=v#f")
	if err != nil {
		panic("fixed URL: " + err.Error())
	}
	s := &server{script: script}
	return &harness{
		server: s,
		engine: &exchange.Engine{HTTP: s, Limits: exchange.NewLimits()},
		call: exchange.Call{URL: u, Body: b.Done(), NewParser: newWords, Model: "m1",
			Header: func() http.Header { return http.Header{"Authorization": {"Bearer key-of-ours"}} }, Hide: []string{"key-of-ours"}},
	}
}

func (h *harness) do(ctx context.Context) error {
	emit := h.emit
	if emit == nil {
		emit = func(ev provider.Event) error {
			h.got = append(h.got, ev)
			return nil
		}
	}
	return h.engine.Do(ctx, h.call, emit)
}

// show renders the events that arrived.
func (h *harness) show() string {
	var b bytes.Buffer
	for _, ev := range h.got {
		switch ev.Kind {
		case provider.EventText:
			b.WriteString("text(" + ev.Text + ") ")
		case provider.EventRawReasoning:
			b.WriteString("think(" + ev.Text + ") ")
		case provider.EventToolProgress:
			b.WriteString("tool ")
		case provider.EventCall:
			b.WriteString("call(" + ev.Call.ID + ") ")
		case provider.EventUsage:
			b.WriteString("usage ")
		case provider.EventTier:
			b.WriteString("tier(" + ev.Text + ") ")
		case provider.EventIdentity:
			b.WriteString("identity(" + ev.Identity.Outcome + ") ")
		case provider.EventNotice:
			b.WriteString("notice ")
		}
	}
	return strings.TrimSpace(b.String())
}

func asError(t *testing.T, err error) *provider.Error {
	t.Helper()
	var perr *provider.Error
	if !errors.As(err, &perr) {
		t.Fatalf("error %v (%T) is no *provider.Error", err, err)
	}
	return perr
}
