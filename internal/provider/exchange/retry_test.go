package exchange_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/provider"
)

var ok = answer{body: data(events("text hi", "final"))}

func status(n int) answer { return answer{status: n, body: data(`{"error":{"message":"no"}}`)} }

func later(n int, after string) answer {
	a := status(n)
	a.header = http.Header{"Retry-After": {after}}
	return a
}

func TestStatusTable(t *testing.T) {
	for _, c := range []struct {
		status   int
		requests int
		lo, hi   time.Duration // of all waits together
	}{
		{400, 1, 0, 0}, {401, 1, 0, 0}, {403, 1, 0, 0}, {404, 1, 0, 0}, {413, 1, 0, 0}, {422, 1, 0, 0}, {302, 1, 0, 0}, {307, 1, 0, 0},
		{408, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{425, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{429, 4, 32 * time.Second, 32 * time.Second},
		{500, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{502, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{503, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{504, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{529, 3, 800 * time.Millisecond, 1200 * time.Millisecond},
		{501, 1, 0, 0},
	} {
		t.Run(strconv.Itoa(c.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(status(c.status), status(c.status), status(c.status), status(c.status), ok)
				start := time.Now()
				perr := asError(t, h.do(t.Context()))
				took := time.Since(start)
				if perr.Kind != provider.ErrHTTPStatus || perr.Status != c.status || perr.Attempts != c.requests {
					t.Errorf("error %+v", perr)
				}
				if len(h.server.bodies) != c.requests || took < c.lo || took > c.hi {
					t.Errorf("%d requests in %v, want %d in %v to %v", len(h.server.bodies), took, c.requests, c.lo, c.hi)
				}
				if prefix := strings.HasPrefix(perr.Error(), "failed after "+strconv.Itoa(c.requests)+" attempts: "); prefix != (c.requests > 1) {
					t.Errorf("text %q", perr.Error())
				}
				for _, b := range h.server.bodies {
					if b != `{"x":1}` {
						t.Errorf("body %q", b)
					}
				}
				if h.server.closed != c.requests {
					t.Errorf("%d of %d bodies closed", h.server.closed, c.requests)
				}
			})
		})
	}
}

func TestWaitsShareOneCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(status(429), status(503), status(429), ok)
		if err := h.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		at := h.server.at
		for i, want := range []time.Duration{2 * time.Second, 750 * time.Millisecond, 20 * time.Second} {
			slack := want / 5
			if i != 1 {
				slack = 0
			}
			if got := at[i+1].Sub(at[i]); got < want-slack || got > want+slack {
				t.Errorf("wait %d was %v, want %v ± %v", i+1, got, want, slack)
			}
		}
	})
}

func TestJitterSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[time.Duration]bool)
		h := newHarness()
		for range 17 {
			h.server.script = []answer{status(500), ok}
			h.server.at = nil
			if err := h.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			d := h.server.at[1].Sub(h.server.at[0])
			if d < 200*time.Millisecond || d > 300*time.Millisecond {
				t.Errorf("wait %v", d)
			}
			seen[d] = true
		}
		if len(seen) < 10 {
			t.Errorf("only %d different waits", len(seen))
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		after    string
		want     time.Duration // exact unless slack
		slack    time.Duration
		requests int
	}{
		{"shorter than the table", 429, "0", 2 * time.Second, 0, 2},
		{"longer than the table", 429, "5", 5 * time.Second, 0, 2},
		{"the longest", 429, "60", 60 * time.Second, 0, 2},
		{"too long", 429, "61", 0, 0, 1},
		{"absurd", 429, "99999999999999999999999", 0, 0, 1},
		{"on 503", 503, "3", 3 * time.Second, 0, 2},
		{"on 529", 529, "3", 3 * time.Second, 0, 2},
		{"not on 500", 500, "30", 250 * time.Millisecond, 50 * time.Millisecond, 2},
		{"not on 500, too long", 500, "3600", 250 * time.Millisecond, 50 * time.Millisecond, 2},
		{"no number", 429, "soon", 2 * time.Second, 0, 2},
		{"negative", 429, "-5", 2 * time.Second, 0, 2},
		{"blank", 429, " ", 2 * time.Second, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(later(c.status, c.after), ok)
				start := time.Now()
				err := h.do(t.Context())
				took := time.Since(start)
				if len(h.server.bodies) != c.requests || took < c.want-c.slack || took > c.want+c.slack {
					t.Errorf("%d requests in %v", len(h.server.bodies), took)
				}
				if c.requests == 1 {
					if text := asError(t, err).Error(); !strings.Contains(text, "try again in ") {
						t.Errorf("text %q does not say when", text)
					}
				} else if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestRetryAfterDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(7 * time.Second)
		h := newHarness(later(429, at.UTC().Format(http.TimeFormat)), ok)
		if err := h.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := h.server.at[1]; got.Before(at.Add(-time.Second)) || got.After(at) {
			t.Errorf("second request at %v, asked for %v", got, at)
		}
		h = newHarness(later(429, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), ok)
		text := asError(t, h.do(t.Context())).Error()
		if !strings.Contains(text, time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")) {
			t.Errorf("text %q does not name the time", text)
		}
		h = newHarness(later(429, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)), ok)
		if err := h.do(t.Context()); err != nil {
			t.Errorf("a date in the past: %v", err)
		}
	})
}

func TestTransportErrors(t *testing.T) {
	refused := answer{err: errors.New("dial tcp: refused; key-of-ours")}
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(refused, refused, refused, ok)
		perr := asError(t, h.do(t.Context()))
		if perr.Kind != provider.ErrTransport || perr.Attempts != 3 || strings.Contains(perr.Error(), "key-of-ours") {
			t.Errorf("error %+v", perr)
		}
		h = newHarness(refused, refused, ok)
		if err := h.do(t.Context()); err != nil {
			t.Errorf("the third attempt: %v", err)
		}
	})
}

func TestStreamFailures(t *testing.T) {
	cut := errors.New("connection reset")
	for _, c := range []struct {
		name     string
		body     []step
		kind     provider.ErrorKind
		requests int
		tools    bool
		events   string
	}{
		{"end before progress", data(events("nothing")), provider.ErrStreamTerminal, 3, false, ""},
		{"end after text", data(events("text a")), provider.ErrIncomplete, 1, false, "text(a)"},
		{"end after a call began", data(events("text a", "tool")), provider.ErrIncomplete, 1, true, "text(a) tool"},
		{"cut before progress", []step{{data: events("nothing"), err: cut}}, provider.ErrTransport, 3, false, ""},
		{"cut after text", []step{{data: events("text a")}, {err: cut}}, provider.ErrIncomplete, 1, false, "text(a)"},
		{"reported before progress", data(events("failed x")), provider.ErrStreamFailed, 3, false, ""},
		{"reported after text", data(events("text a", "failed x")), provider.ErrIncomplete, 1, false, "text(a)"},
		{"plain", data(events("plain x")), provider.ErrPlain, 1, false, ""},
		{"plain after text", data(events("text a", "plain x")), provider.ErrIncomplete, 1, false, "text(a)"},
		{"unclassified", data(events("odd x")), provider.ErrPlain, 1, false, ""},
		{"after usage only", data(events("usage x")), provider.ErrIncomplete, 1, false, "usage"},
		{"alive is no progress", data(events("alive")), provider.ErrStreamTerminal, 3, false, ""},
		{"torn event", data("data: tex"), provider.ErrPlain, 1, false, ""},
		{"an event too large", data("data: " + strings.Repeat("x", 1<<20) + "y\n\n"), provider.ErrStreamTerminal, 3, false, ""},
		{"comments without end", data(strings.Repeat(": "+strings.Repeat("x", 1<<19)+"\n", 4)), provider.ErrStreamTerminal, 3, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				again := func() answer { return answer{body: append([]step(nil), c.body...)} }
				h := newHarness(again(), again(), again(), again())
				perr := asError(t, h.do(t.Context()))
				if perr.Kind != c.kind || perr.ToolProgress != c.tools || perr.Attempts != c.requests || len(h.server.bodies) != c.requests {
					t.Errorf("%d requests, error %+v", len(h.server.bodies), perr)
				}
				if got := h.show(); got != c.events {
					t.Errorf("events %q, want %q", got, c.events)
				}
				if h.server.closed != c.requests {
					t.Errorf("%d bodies closed", h.server.closed)
				}
			})
		})
	}
}

// TestCancellation ends a call in each of its phases: the cause comes back
// without any time passing, and no further request is made.
func TestCancellation(t *testing.T) {
	cause := errors.New("the user's stop")
	for _, c := range []struct {
		name   string
		script answer
		after  time.Duration
	}{
		{"before", ok, 0},
		{"waiting for headers", answer{delay: time.Hour}, time.Second},
		{"in the stream", answer{body: []step{{data: events("text a")}, {hang: true}}}, time.Second},
		{"in an error body", answer{status: 500, body: []step{{hang: true}}}, time.Second},
		{"in a retry wait", status(429), time.Second},
		{"in a long retry wait", later(429, "50"), 49 * time.Second},
		{"after the last event", answer{body: []step{{data: events("text a", "terminal")}, {hang: true}}}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				h := newHarness(c.script, ok)
				if c.after == 0 {
					cancel(cause)
				} else {
					timer := time.AfterFunc(c.after, func() { cancel(cause) })
					defer timer.Stop()
				}
				start := time.Now()
				if err := h.do(ctx); !errors.Is(err, cause) {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("took %v", took)
				}
				if len(h.server.bodies) > 1 {
					t.Errorf("%d requests", len(h.server.bodies))
				}
			})
		})
	}
}

func TestReceiverErrorsEndTheCall(t *testing.T) {
	stop := errors.New("receiver is full")
	for _, at := range []string{"text a", "call a", "usage a"} {
		h := newHarness(answer{body: data(events(at, "text more", "final"))}, ok)
		h.emit = func(provider.Event) error { return stop }
		if err := h.do(t.Context()); !errors.Is(err, stop) {
			t.Errorf("%s: error %v", at, err)
		}
		if len(h.server.bodies) != 1 || h.server.closed != 1 {
			t.Errorf("%s: %d requests, %d closed", at, len(h.server.bodies), h.server.closed)
		}
	}
}

// TestCancelledByReceiver: a context that ends while an event is delivered
// stops the stream before the next one.
func TestCancelledByReceiver(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newHarness(answer{body: data(events("call a", "call b", "final"))})
	n := 0
	h.emit = func(provider.Event) error {
		n++
		cancel(cause)
		return nil
	}
	if err := h.do(ctx); !errors.Is(err, cause) || n != 1 {
		t.Errorf("error %v after %d events", err, n)
	}
}
