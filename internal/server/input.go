package server

import (
	"context"
	"errors"
	"io"
	"time"

	"magicode/internal/admission"
	"magicode/internal/frame"
	"magicode/internal/worker"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// reader is what the connection needs of a frame.Reader.
type reader interface {
	Next() ([]byte, error)
	Buffered() bool
}

// read reads until the connection closes. ctx is the jobs' parent.
func (c *conn) read(ctx context.Context, r reader) {
	defer c.survive()
	for {
		f, err := r.Next()
		if !c.batch(ctx, r, f, err) {
			return
		}
	}
}

// batch takes in a frame and all complete ones behind it under one lock: a job
// that is quicker than the rest of the batch answers behind it, so that what
// two frames of one write do to each other does not depend on luck. It reports
// whether reading goes on.
func (c *conn) batch(ctx context.Context, r reader, f []byte, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.reads() {
		c.input(ctx, f, err)
		if !r.Buffered() {
			break
		}
		f, err = r.Next()
	}
	c.settle()
	return c.reads()
}

// reads reports whether reader is still looked at.
func (c *conn) reads() bool { return !c.closing && !c.over }

// input takes in a frame, or the end of the input.
func (c *conn) input(ctx context.Context, f []byte, err error) {
	switch {
	case err == nil:
		c.frame(ctx, f)
	case errors.Is(err, io.EOF):
		c.child.Event(telemetry.EventInputClosed)
		c.close(ReasonEOF)
	case errors.Is(err, frame.ErrIncomplete):
		c.close(ReasonEOF)
		c.failUnknown(localagent.CodeIncompleteFrame)
	case errors.Is(err, frame.ErrTooLarge):
		c.close(ReasonOversize)
		c.failUnknown(localagent.CodeFrameTooLarge)
	case errors.Is(err, frame.ErrOutputGone):
		c.end(1, ReasonOutputBroken)
	default:
		c.end(1, ReasonInput)
	}
}

// frame admits one frame and carries it out, in the order of runner.md 5.
func (c *conn) frame(ctx context.Context, f []byte) {
	req, refused := c.admit(f)
	if refused != nil {
		c.refuse(refused)
		c.rejected("", refused.Code)
		return
	}
	ctx, span := c.cfg.Tel.Begin(ctx, telemetry.SpanRequest)
	described(span, req.Method, req.ID, len(f))
	c.query = call{id: req.ID, params: req.Params, span: span}
	if code := c.carryOut(ctx, req.Method); code != "" {
		c.fail(req.ID, code)
		span.Fail(telemetry.CodeOf(string(code)))
		c.rejected(req.Method, code)
	}
	c.query.span.Event(telemetry.EventResponseQueued)
	c.query.span.End()
	c.query = call{} // nothing of a request outlives it
}

// admit parses a frame and records its id.
func (c *conn) admit(f []byte) (admission.Request, *admission.Rejection) {
	var began time.Time
	if c.cfg.Tel.On() {
		began = time.Now()
	}
	req, refused := admission.Parse(f)
	if refused == nil {
		refused = c.ids.Record(req.ID)
	}
	if c.cfg.Tel.On() {
		now, kind := time.Now(), telemetry.FrameRequest
		if refused != nil && !refused.HasID {
			kind = telemetry.FrameInvalid
		}
		c.cfg.Tel.FrameIn(now, now.Sub(began), len(f), kind)
	}
	return req, refused
}

func (c *conn) refuse(r *admission.Rejection) {
	if !r.HasID {
		c.failUnknown(r.Code)
		return
	}
	c.fail(r.ID, r.Code)
	if !r.Closes {
		return
	}
	reason := ReasonMismatch
	if r.Code == localagent.CodeRequestLimit {
		reason = ReasonRequestLimit
	}
	c.close(reason)
	c.cancelPending()
}

// carryOut checks c.query and does what it asks for. The code refuses it.
func (c *conn) carryOut(ctx context.Context, method string) localagent.Code {
	op := find(c.ops, method)
	if op == nil {
		return localagent.CodeUnsupportedMethod
	}
	for _, check := range op.checks {
		if code := check(c, &c.query); code != "" {
			return code
		}
	}
	return op.admit(c, ctx, &c.query)
}

// survive turns a panic of the connection's own code into an end that still
// cleans up. The stack has released the lock by then.
func (c *conn) survive() {
	if recover() == nil {
		return
	}
	// The cause does not matter for the end; where it was has been reported.
	_ = c.panicked(WorkerConnection, worker.Here())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(1, ReasonInput)
}
