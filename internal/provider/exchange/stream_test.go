package exchange_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/exchange"

	"github.com/google/go-cmp/cmp"
)

func TestMerging(t *testing.T) {
	for _, c := range []struct {
		name string
		body []step
		want string
	}{
		{"one read, one event", data(events("text a", "text b", "text c", "final")), "text(abc)"},
		{"two reads", []step{{data: events("text a", "text b")}, {data: events("text c", "final")}}, "text(ab) text(c)"},
		{"another kind between", data(events("text a", "tool", "text b", "think c", "text d", "final")), "text(a) tool text(b) think(c) text(d)"},
		{"tool pieces merge", data(events("tool", "tool", "call x", "final")), "tool call(x)"},
		{"usage waits for the deltas to end", []step{{data: events("usage 1", "text a")}, {data: events("text b", "usage 2")}, {data: events("final")}}, "text(a) text(b) usage"},
		{"usage at once without deltas", []step{{data: events("usage 1")}, {data: events("text b", "final")}}, "usage text(b)"},
		{"output alone is kept back", data(events("output 1", "final")), ""},
		{"tier only at the end", data(events("tier flex", "text a", "final")), "text(a) tier(flex)"},
		{"empty deltas are nothing", data(events("text ", "final")), ""},
		{"nothing behind the last event", data(events("text a", "final", "text b")), "text(a)"},
	} {
		h := newHarness(answer{body: c.body})
		if err := h.do(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := h.show(); got != c.want {
			t.Errorf("%s: events %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWatchdogs(t *testing.T) {
	comments := func(n int, every time.Duration) (out []step) {
		for range n {
			out = append(out, step{wait: every, data: ": ping\n\n"})
		}
		return out
	}
	silent := []step{{hang: true}}
	for _, c := range []struct {
		name     string
		semantic time.Duration
		delay    time.Duration // of the headers
		body     []step
		want     string // in the error; "" is success
		took     time.Duration
	}{
		{"no bytes", 600 * time.Second, 0, append(data(events("text a")), silent...), "idle timeout", 120 * time.Second},
		{"each byte counts", 600 * time.Second, 0, append(comments(3, 119*time.Second), step{data: events("text a", "final")}), "", 357 * time.Second},
		{"no progress", 0, 0, append(data(events("text a")), silent...), "no semantic progress", 60 * time.Second},
		{"comments are no progress", 10 * time.Second, 0, append(data(events("text a")), comments(100, 3*time.Second)...), "no semantic progress", 10 * time.Second},
		{"progress starts it anew", 10 * time.Second, 0, []step{{data: events("text a")}, {wait: 9 * time.Second, data: events("text b")}, {wait: 9 * time.Second, data: events("tool")}, {wait: 9 * time.Second, data: events("usage 1")}, {wait: 9 * time.Second, data: events("final")}}, "", 36 * time.Second},
		{"hidden work holds it off", 10 * time.Second, 0, []step{{data: events("text a")}, {wait: 9 * time.Second, data: events("alive")}, {wait: 9 * time.Second, data: events("final")}}, "", 18 * time.Second},
		{"the wait for headers is not in it", 10 * time.Second, 100 * time.Second, []step{{wait: 9 * time.Second, data: events("text a", "final")}}, "", 109 * time.Second},
		{"complete and left open", 10 * time.Second, 0, append(data(events("text a", "terminal")), silent...), "", 5 * time.Second},
		{"complete, then usage", 10 * time.Second, 0, []step{{data: events("text a", "terminal")}, {wait: 4 * time.Second, data: events("usage 1")}, {wait: 4 * time.Second, data: events("final")}}, "", 8 * time.Second},
		{"final and left open", 10 * time.Second, 0, append(data(events("text a", "final")), silent...), "", 20 * time.Millisecond},
		{"complete and cut", 10 * time.Second, 0, append(data(events("text a", "terminal")), step{err: errors.New("reset")}), "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(answer{delay: c.delay, body: c.body})
				h.call.Semantic = c.semantic
				start := time.Now()
				err := h.do(t.Context())
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				switch {
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" && (asError(t, err).Kind != provider.ErrIncomplete || !strings.Contains(err.Error(), c.want)):
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// TestSlowReceiver: the time that the receiver takes is not the provider's.
func TestSlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(answer{body: []step{{data: events("text a")}, {wait: 5 * time.Second, data: events("text b", "final")}}})
		h.call.Semantic = 10 * time.Second
		h.emit = func(provider.Event) error {
			time.Sleep(5 * time.Minute)
			return nil
		}
		if err := h.do(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStalledAttemptIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(answer{body: []step{{hang: true}}}, ok)
		h.call.Semantic = 10 * time.Second
		if err := h.do(t.Context()); err != nil || h.show() != "text(hi)" {
			t.Errorf("events %q, error %v", h.show(), err)
		}
	})
}

func TestErrorBody(t *testing.T) {
	const secret = "sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4"
	for _, c := range []struct {
		name  string
		body  []step
		has   []string
		lacks []string
	}{
		{"quoted", data(`{"error":"why"}`), []string{"http://host.test:8080/v1/responses", "400", "why"}, []string{"pw", "k=v", "#f", "truncated"}},
		{"secrets", data("bad key " + secret + " and key-of-ours"), []string{"bad key"}, []string{secret, "key-of-ours"}},
		{"cut", data(strings.Repeat("ä", 20<<10)), []string{"<truncated provider error body>"}, []string{"\ufffd"}},
		{"a secret across the cut", data(strings.Repeat("x ", 8<<10-6) + secret), []string{"x x x"}, []string{"A1b2C3d4A1b2"}},
		{"slow", []step{{data: "half"}, {wait: 4 * time.Second, data: " more"}, {wait: 6 * time.Second, data: "never"}}, []string{"failed to read provider error body"}, []string{"never"}},
		{"broken", []step{{data: "half", err: errors.New("reset")}}, []string{"failed to read provider error body"}, nil},
		{"no UTF-8", data("a\xffb"), []string{"a\ufffdb"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(answer{status: 400, body: c.body})
				text := asError(t, h.do(t.Context())).Error()
				if len(text) > 17<<10 {
					t.Errorf("%d bytes", len(text))
				}
				for _, s := range c.has {
					if !strings.Contains(text, s) {
						t.Errorf("lacks %q: %.200q", s, text)
					}
				}
				for _, s := range c.lacks {
					if strings.Contains(text, s) {
						t.Errorf("holds %q", s)
					}
				}
			})
		})
	}
}

// TestStreamErrorsHideTheKey: a server that repeats our key in its stream.
func TestStreamErrorsHideTheKey(t *testing.T) {
	h := newHarness(answer{body: data(events("plain bad key key-of-ours"))})
	perr := asError(t, h.do(t.Context()))
	if text := perr.Error(); strings.Contains(text, "key-of-ours") || !strings.Contains(text, "bad key") || perr.Kind != provider.ErrPlain {
		t.Errorf("error %q", text)
	}
}

func TestPromptTooLong(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   provider.ErrorKind
	}{
		{400, `{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}`, provider.ErrPromptTooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`, provider.ErrPromptTooLong},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, provider.ErrPromptTooLong},
		{400, `{"object":"error","message":"This model's maximum context length is 8 tokens.","type":"BadRequestError"}`, provider.ErrPromptTooLong},
		{400, `{"error":{"message":"no such tool"}}`, provider.ErrHTTPStatus},
		{400, `context_length_exceeded`, provider.ErrHTTPStatus},
		{401, `{"error":{"code":"context_length_exceeded"}}`, provider.ErrHTTPStatus},
	} {
		h := newHarness(answer{status: c.status, body: data(c.body)})
		perr := asError(t, h.do(t.Context()))
		if perr.Kind != c.want || perr.Retryable || len(h.server.bodies) != 1 {
			t.Errorf("%d %s: %+v, %d requests", c.status, c.body, perr, len(h.server.bodies))
		}
	}
}

func TestIdentity(t *testing.T) {
	named := func(a answer, id string) answer {
		a.header = http.Header{"X-Request-Id": {id}}
		return a
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(named(status(500), "r1"), named(answer{body: data(events("model m1", "text a", "final"))}, "sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4"))
		h.call.Provider = "openai-compatible"
		if err := h.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := "identity(error) text(a) identity(success) notice"; h.show() != want {
			t.Errorf("events %q, want %q", h.show(), want)
		}
		first := provider.Identity{Provider: "openai-compatible", Attempt: 1, RequestedModel: "m1", RequestID: "r1", Outcome: "error"}
		if diff := cmp.Diff(first, *h.got[0].Identity); diff != "" {
			t.Error(diff)
		}
		second := h.got[2].Identity
		if second.Attempt != 2 || second.ResponseModel != "m1" || strings.Contains(second.RequestID, "A1b2") {
			t.Errorf("second identity %+v", second)
		}
		if n := h.got[3]; n.Warning || !strings.Contains(n.Text, "2 attempts") {
			t.Errorf("notice %+v", n)
		}
	})
}

func TestModelMismatchIsAWarning(t *testing.T) {
	h := newHarness(answer{body: data(events("model other", "final"))})
	h.call.Provider = "openai-compatible"
	if err := h.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := h.got[len(h.got)-1]
	if last.Kind != provider.EventNotice || !last.Warning || !strings.Contains(last.Text, "other") {
		t.Errorf("last event %+v", last)
	}
	h = newHarness(answer{body: data(events("model m1", "final"))})
	h.call.Provider = "openai-compatible"
	if err := h.do(t.Context()); err != nil || h.show() != "identity(success)" {
		t.Errorf("equal model: events %q, error %v", h.show(), err)
	}
}

func TestAttemptsGoOnCounting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(status(500), ok)
		h.call.Before = 2
		perr := asError(t, h.do(t.Context()))
		if perr.Attempts != 3 || len(h.server.bodies) != 1 {
			t.Errorf("%d requests, error %+v", len(h.server.bodies), perr)
		}
	})
}

// TestLimits: the 33rd request at once fails without waiting.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := answer{body: []step{{wait: time.Hour}, {data: events("final")}}}
		h := newHarness()
		for range 40 {
			h.server.script = append(h.server.script, busy)
		}
		done := make(chan error, 32)
		for range 32 {
			go func() {
				done <- h.engine.Do(t.Context(), exchange.Call{URL: h.call.URL, Body: h.call.Body, Header: h.call.Header, NewParser: newWords, Semantic: 2 * time.Hour}, func(provider.Event) error { return nil })
			}()
		}
		synctest.Wait()
		start := time.Now()
		perr := asError(t, h.do(t.Context()))
		if perr.Kind != provider.ErrTransport || !perr.Retryable || time.Since(start) > 2*time.Second {
			t.Errorf("error %+v after %v", perr, time.Since(start))
		}
		for range 32 {
			<-done
		}
	})
}

func TestPlainBody(t *testing.T) {
	var got string
	parser := func(s *exchange.Sink) exchange.Parser { return &whole{words: words{sink: s}, got: &got} }
	h := newHarness(answer{body: []step{{data: " \n {\"a\":"}, {data: "1}\n"}}})
	h.call.NewParser = parser
	if err := h.do(t.Context()); err != nil || strings.TrimSpace(got) != `{"a":1}` {
		t.Errorf("event %q, error %v", got, err)
	}
}

type whole struct {
	words
	got *string
}

func (w *whole) Event(data []byte) error {
	*w.got += string(data)
	w.state = exchange.Terminal
	return nil
}

func TestReadStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	cancel(cause)
	err := exchange.Read(ctx, strings.NewReader(events("text a", "final")), newWords, func(provider.Event) error { return nil })
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
