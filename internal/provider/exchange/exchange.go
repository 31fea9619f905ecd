package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/redact"
	"magicode/telemetry"
)

// State is how far a parser has seen its response come.
type State uint8

const (
	// Open: the response is not complete.
	Open State = iota
	// Terminal: it is complete, but more may be told (usage).
	Terminal
	// Final: it is complete and nothing can follow.
	Final
)

// Parser reads the events of one attempt. It reports what it finds to the Sink
// it was made with; all methods are called from one goroutine.
type Parser interface {
	// Event takes the data of one event: JSON, or [DONE]. The data is only valid
	// during the call. An error, best a *provider.Error, ends the attempt.
	Event(data []byte) error
	// State is asked after every event.
	State() State
	// Finish is called once, at the end of the stream: complete tells whether the
	// response is. Only then may it report calls; text that was held back is
	// reported in any case.
	Finish(complete bool) error
	// Model is the model that the provider named, or "".
	Model() string
	// Tier is the service tier that the provider named, or "".
	Tier() string
}

// Call is one request and the way to read its response.
type Call struct {
	URL  *url.URL
	Body *body.Body
	// Header makes the headers of one attempt; the map is used up.
	Header func() http.Header
	// OnHeader, if set, sees the headers of every response.
	OnHeader func(http.Header)
	// NewParser makes the parser of one attempt.
	NewParser func(*Sink) Parser
	// Semantic bounds the time without semantic progress; 0 is 60 s.
	Semantic time.Duration
	// Provider names the identity records; "" means that the API has none
	// (providers.md 8.4): then only the model that answered is told.
	Provider string
	Model    string
	// API is telemetry's word for the wire: responses, chat_completions or messages.
	API string
	// Hide are the values of credentials that are sent: they never show in an error.
	Hide []string
	// Whole: the answer is one body and comes at the first attempt, or not.
	Whole bool
	// Before is how many attempts were already made for this generation.
	Before int
}

// Engine makes calls. It is safe for concurrent use; its fields are not changed
// after the first call.
type Engine struct {
	// HTTP sends the requests; it must not follow redirects.
	HTTP http.RoundTripper
	// Limits is shared by the whole process.
	Limits *Limits
	Tel    telemetry.Tel

	jitter  atomic.Uint32
	buffers sync.Pool
}

// Do makes the call and forwards its events to emit, from the calling
// goroutine. It returns nil when the response is complete, the context's cause,
// the error of emit, or a *provider.Error.
func (e *Engine) Do(ctx context.Context, c Call, emit func(provider.Event) error) error {
	telemetry.Current(ctx).Int(telemetry.KeyRequestBytes, c.Body.Len())
	mismatch := ""
	for n := c.Before + 1; ; n++ {
		a := &attempt{engine: e, call: &c, number: n, sink: Sink{ctx: ctx, emit: emit}}
		fail, err := a.run(ctx)
		telemetry.Current(ctx).Int(telemetry.KeyAttempts, int64(n))
		if m := a.mismatch(); m != "" {
			mismatch = m
		}
		if err != nil {
			return err
		}
		if err := a.identity(fail == nil); err != nil {
			return err
		}
		if fail == nil {
			return a.succeed(mismatch)
		}
		if a.sink.anything {
			return prefixed(wrapProgress(fail.err, a.sink.tools), n)
		}
		wait, again := e.wait(fail, n)
		if !again || c.Whole {
			return prefixed(fail.final(), n)
		}
		if err := e.pause(ctx, fail, n, wait); err != nil {
			return err
		}
	}
}

func wrapProgress(err *provider.Error, tools bool) *provider.Error {
	if err.Kind == provider.ErrHTTPStatus || err.Kind == provider.ErrPromptTooLong {
		return err
	}
	return incomplete(err, tools)
}

// identity emits the record of one attempt.
func (a *attempt) identity(ok bool) error {
	if a.call.Provider == "" && a.model == "" {
		return nil
	}
	outcome := "error"
	if ok {
		outcome = "success"
	}
	a.sink.forward(provider.Event{Kind: provider.EventIdentity, Identity: &provider.Identity{
		Provider: a.call.Provider, Attempt: a.number, Outcome: outcome, RequestedModel: short(a.call.Model),
		ResponseModel: short(a.model), RequestID: short(a.requestID)}})
	return a.sink.err
}

// mismatch is the model that answered, if another one was asked for.
func (a *attempt) mismatch() string {
	if a.call.Provider == "" || a.model == "" || a.model == a.call.Model {
		return ""
	}
	return a.model
}

// succeed emits what was held back until the response was whole.
func (a *attempt) succeed(mismatch string) error {
	if a.tier != "" {
		a.sink.forward(provider.Event{Kind: provider.EventTier, Text: a.tier})
	}
	if a.call.Provider == "" {
		return a.sink.err
	}
	switch {
	case mismatch != "":
		a.sink.forward(provider.Event{Kind: provider.EventNotice, Warning: true,
			Text: fmt.Sprintf("The provider answered with model %q; %q was requested.", short(mismatch), short(a.call.Model))})
	case a.number > 1:
		a.sink.forward(provider.Event{Kind: provider.EventNotice,
			Text: fmt.Sprintf("The provider request succeeded after %d attempts.", a.number)})
	}
	return a.sink.err
}

func short(s string) string {
	s = redact.Text(s)
	if len(s) <= maxIdentity {
		return s
	}
	end := maxIdentity
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}

// failure is an attempt that failed, and what the next one must wait for.
type failure struct {
	err     *provider.Error
	after   time.Duration // Retry-After
	asked   bool          // after counts
	now     time.Time
	limited bool // 429: the longer row of waits
}

// maxRetryAfter is how long a server may make us wait: decision 11.
const maxRetryAfter = 60 * time.Second

// final is the error of the last attempt.
func (f *failure) final() *provider.Error {
	if !f.asked || f.after <= maxRetryAfter {
		return f.err
	}
	out := *f.err
	out.Err = fmt.Errorf("try again in %d seconds, at %s: %w", int64(f.after/time.Second),
		f.now.Add(f.after).UTC().Format(time.RFC3339), f.err.Err)
	return &out
}

// wait decides whether and when attempt n+1 follows (providers.md 8.1).
func (e *Engine) wait(f *failure, n int) (time.Duration, bool) {
	if !f.err.Retryable || f.asked && f.after > maxRetryAfter {
		return 0, false
	}
	var wait time.Duration
	if f.limited {
		waits := [...]time.Duration{2 * time.Second, 10 * time.Second, 20 * time.Second}
		if n > len(waits) {
			return 0, false
		}
		wait = waits[n-1]
	} else {
		waits := [...]time.Duration{250 * time.Millisecond, 750 * time.Millisecond}
		if n > len(waits) {
			return 0, false
		}
		wait = waits[n-1] + e.spread(waits[n-1]/5)
	}
	if f.asked {
		wait = max(wait, f.after)
	}
	return wait, true
}

// spread is between -d and d; a counter, so that neighbours differ.
func (e *Engine) spread(d time.Duration) time.Duration {
	const steps = 16
	k := e.jitter.Add(7) % (steps + 1)
	return d*time.Duration(k)*2/steps - d
}

// pause waits between attempts; the context ends it at once.
func (e *Engine) pause(ctx context.Context, f *failure, n int, d time.Duration) error {
	ctx, span := e.Tel.Begin(ctx, telemetry.SpanProviderRetryWait)
	defer span.End()
	if span.On() {
		span.Int(telemetry.KeyAttempt, int64(n))
		span.Dur(telemetry.KeyRetryWaitMS, d)
		span.Str(telemetry.KeyRetryReason, telemetry.WordOf(retryReason(f)))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retryReason is telemetry's word for why there is another attempt.
func retryReason(f *failure) string {
	if f.limited {
		return "rate_limit"
	}
	if t := ErrorType(f.err); t == "transport" || t == "stream_incomplete" || t == "no_progress" {
		return t
	}
	return ""
}

// asFailure turns an error of a parser into a failure.
func asFailure(err error) *failure {
	var perr *provider.Error
	if errors.As(err, &perr) {
		return &failure{err: perr}
	}
	return &failure{err: Plain("%w", err)}
}
