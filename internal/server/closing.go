package server

import (
	"context"
	"errors"
	"os"
	"time"

	"magicode/internal/frame"
	"magicode/pkg/localagent"
)

// close begins closing, once: nothing more is read, jobs are cancelled, and
// 2,000 ms are left to write what is queued and to end the run.
func (c *conn) close(reason Reason) {
	if c.closing || c.over {
		return
	}
	c.closing, c.reason = true, reason
	c.endingBegins(reason)
	c.slot.Cancel(ErrShutdown)
	c.expiry = time.AfterFunc(localagent.ClosingDeadline, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(1, ReasonClosingDeadline)
	})
}

// cancelPending answers the request that waits for a job which closing has cancelled.
func (c *conn) cancelPending() {
	switch {
	case c.init.pending:
		c.fail(c.init.id, localagent.CodeStartupCancelled)
		c.init.end(localagent.CodeStartupCancelled)
	case c.work.pending:
		c.fail(c.work.id, localagent.CodeOperationCancelled)
		c.work.end(localagent.CodeOperationCancelled)
	}
}

// shutdown answers, begins closing, and resolves what is pending.
func (c *conn) shutdown(_ context.Context, q *call) localagent.Code {
	c.succeed(q.id, resultStopping)
	c.close(ReasonShutdown)
	c.cancelPending()
	return ""
}

// signalled does what shutdown does, without an answer of its own (decision 13).
func (c *conn) signalled(sig os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.signal == nil {
		c.signal = sig
	}
	if !c.closing {
		c.close(ReasonSignal)
		c.cancelPending()
	}
	c.settle()
}

// leaveIfDone ends a closing child once everything is written and no run is left.
func (c *conn) leaveIfDone() {
	if c.closing && c.run == nil && c.out.Len() == 0 {
		c.end(0, c.reason)
	}
}

// end decides how the child ends, once. From then on nothing is written, and
// jobs that are still running end without an answer.
func (c *conn) end(code int, reason Reason) {
	if c.over {
		return
	}
	c.over = true
	c.exit = Exit{Code: code, Reason: reason, Signal: c.signal}
	c.endingBegins(reason)
	c.drained(reason)
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.slot.Cancel(ErrOutput)
	if c.run != nil {
		c.run.events.Lose()
	}
	close(c.ended)
}

// outputReason says why the output has ended.
func outputReason(err error) Reason {
	switch {
	case errors.Is(err, frame.ErrOverflow), errors.Is(err, frame.ErrFrameBound):
		return ReasonOverflow
	case errors.Is(err, frame.ErrDeadline):
		return ReasonOutputDeadline
	}
	return ReasonOutputBroken
}
