package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"magicode/internal/provider"
	"magicode/telemetry"
)

// attempt is one request and its response.
type attempt struct {
	engine *Engine
	call   *Call
	number int
	sink   Sink
	idle   *time.Timer // Call.Whole: ends the attempt when nothing comes

	model     string
	tier      string
	requestID string
}

// run returns a failure of the provider, or an error that ends the call: the
// context's cause or the receiver's error.
func (a *attempt) run(parent context.Context) (*failure, error) {
	if parent.Err() != nil {
		return nil, context.Cause(parent)
	}
	ctx, span := a.engine.Tel.Begin(parent, telemetry.SpanProviderAttempt)
	defer span.End()
	span.Int(telemetry.KeyAttempt, int64(a.number))
	span.Str(telemetry.KeyAPIMode, telemetry.WordOf(a.call.API))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	phase(ctx, "connect")
	fail, err := a.exchange(ctx, cancel)
	if err == nil && fail == nil {
		phase(ctx, "done")
	}
	if parent.Err() != nil {
		span.Fail(telemetry.CodeOf("cancelled"))
		return nil, context.Cause(parent)
	}
	if err == nil && fail != nil {
		span.Fail(telemetry.CodeOf(ErrorType(fail.err)))
	}
	return fail, err
}

func (a *attempt) exchange(ctx context.Context, cancel context.CancelCauseFunc) (*failure, error) {
	if a.call.Whole {
		a.idle = time.AfterFunc(wholeIdle, func() { cancel(errWholeIdle) })
		defer a.idle.Stop()
	}
	resp, fail := a.send(ctx)
	if fail != nil {
		return fail, nil
	}
	defer resp.Body.Close()
	phase(ctx, "headers")
	telemetry.Current(ctx).Event(telemetry.EventHeaders)
	telemetry.Current(ctx).Int(telemetry.KeyHTTPStatus, int64(resp.StatusCode))
	a.requestID = resp.Header.Get("X-Request-Id")
	if a.call.OnHeader != nil {
		a.call.OnHeader(resp.Header)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return a.status(ctx, cancel, resp), nil
	}
	release, ok := tryAcquire(a.engine.Limits.streams)
	if !ok {
		return &failure{err: transport("provider request", errBusy, nil)}, nil
	}
	defer release()
	phase(ctx, "stream")
	body := &counted{Reader: resp.Body}
	defer func() { telemetry.Current(ctx).Int(telemetry.KeyResponseBytes, body.n) }()
	if a.call.Whole {
		return a.stream(ctx, cancel, &wholeBody{r: body, idle: a.idle, left: maxWholeBytes})
	}
	return a.stream(ctx, cancel, body)
}

// counted counts what is read of a body.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// phase tells telemetry how far the attempt has come.
func phase(ctx context.Context, p string) {
	if span := telemetry.Current(ctx); span.On() {
		span.Str(telemetry.KeyAttemptPhase, telemetry.WordOf(p))
	}
}

// send returns a response with any status.
func (a *attempt) send(ctx context.Context) (*http.Response, *failure) {
	release, ok := tryAcquire(a.engine.Limits.headers)
	if !ok {
		return nil, &failure{err: transport("provider request", errBusy, nil)}
	}
	defer release()
	header := a.call.Header()
	// The empty value is not sent. It lets the transport try again by itself when
	// a kept connection turns out to be closed before it carried a byte back.
	header["Idempotency-Key"] = nil
	req := (&http.Request{
		Method:        http.MethodPost,
		URL:           a.call.URL,
		Host:          a.call.URL.Host,
		Header:        header,
		Body:          a.call.Body.Reader(),
		GetBody:       func() (io.ReadCloser, error) { return a.call.Body.Reader(), nil },
		ContentLength: a.call.Body.Len(),
	}).WithContext(ctx)
	resp, err := a.engine.HTTP.RoundTrip(req)
	if err != nil {
		return nil, &failure{err: transport("request to "+endpoint(a.call.URL)+" failed", err, a.call.Hide)}
	}
	return resp, nil
}

// status makes the failure of a response that is not 2xx.
func (a *attempt) status(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) *failure {
	raw, truncated, err := a.readError(ctx, cancel, resp.Body)
	text := errorBody(raw, truncated, a.call.Hide)
	if err != nil {
		text = "failed to read provider error body"
	}
	perr := &provider.Error{Kind: provider.ErrHTTPStatus, Status: resp.StatusCode, Retryable: retryStatus(resp.StatusCode),
		Err: &StatusError{Endpoint: endpoint(a.call.URL), Status: resp.StatusCode, Body: text}}
	if tooLongBody(resp.StatusCode, raw) {
		perr.Kind, perr.Retryable = provider.ErrPromptTooLong, false
	}
	f := &failure{err: perr, now: time.Now(), limited: resp.StatusCode == http.StatusTooManyRequests}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 529:
		f.after, f.asked = retryAfter(resp.Header, f.now)
	}
	return f
}

// readError reads a bounded part of an error body; each read may take 5 s.
func (a *attempt) readError(ctx context.Context, cancel context.CancelCauseFunc, r io.Reader) (raw []byte, truncated bool, err error) {
	release, ok := tryAcquire(a.engine.Limits.errors)
	if !ok {
		return nil, false, errBusy
	}
	defer release()
	timer := time.AfterFunc(errorBodyTimeout, func() { cancel(errIdle) })
	defer timer.Stop()
	buf := make([]byte, maxErrorBody+errorBodySlack+1)
	n := 0
	for n < len(buf) {
		k, err := r.Read(buf[n:])
		n += k
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return buf[:n], false, err
		}
		timer.Reset(errorBodyTimeout)
	}
	if ctx.Err() != nil {
		return buf[:n], false, context.Cause(ctx)
	}
	return buf[:min(n, len(buf)-1)], n == len(buf), nil
}

// ErrorType is the error.type of a failed generation (telemetry.md 4.3).
func ErrorType(e *provider.Error) string {
	switch {
	case e.Kind == provider.ErrHTTPStatus:
		return strconv.Itoa(e.Status)
	case e.Kind == provider.ErrPromptTooLong:
		return "prompt_too_long"
	case e.Kind == provider.ErrTransport:
		return "transport"
	case errors.Is(e, errSemantic):
		return "no_progress"
	case errors.Is(e, errIdle):
		return "timeout"
	case e.Kind == provider.ErrStreamTerminal:
		return "stream_terminal"
	case e.Kind == provider.ErrStreamFailed, e.Kind == provider.ErrIncomplete:
		return "stream_incomplete"
	}
	return "_OTHER"
}
