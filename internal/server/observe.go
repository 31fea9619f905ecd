package server

import (
	"os"

	"magicode/internal/event"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// What telemetry is told of the connection. Nothing here changes what the
// client sees; where telemetry is off, each of these is a comparison.

// described says what request a span is about.
func described(span telemetry.Span, method, id string, size int) {
	if !span.On() {
		return
	}
	span.Str(telemetry.KeyMethod, telemetry.WordOf(method))
	span.Name(telemetry.KeyRequestHash, telemetry.WireID(id))
	span.Int(telemetry.KeyFrameSize, int64(size))
}

// rejected counts a request that was refused; method is "" where none was read.
func (c *conn) rejected(method string, code localagent.Code) {
	if c.cfg.Tel.On() {
		c.cfg.Tel.Rejected(telemetry.WordOf(method), telemetry.CodeOf(string(code)))
	}
}

// endingBegins opens the span of the end: from here on output is drained, and
// then what has run is joined and released.
func (c *conn) endingBegins(reason Reason) {
	if c.startup == startupNone || c.ending.On() {
		return
	}
	c.cfg.Tel.CleanupBegin()
	c.ending = c.cfg.Tel.BeginInChild(telemetry.SpanCleanup)
	if c.ending.On() {
		c.ending.Str(telemetry.KeyExitReason, telemetry.WordOf(string(reason)))
		c.ending.Int(telemetry.KeyCleanupBudgetMS, localagent.CleanupWait.Milliseconds())
	}
	c.draining = c.ending.Begin(telemetry.SpanCleanupDrain)
	c.draining.Int(telemetry.KeyOutputPending, int64(c.out.Len()))
}

// drained closes the part of the end in which output was still written, and
// notes whose job the cleanup will have to wait for.
func (c *conn) drained(reason Reason) {
	if !c.cfg.Tel.On() {
		return
	}
	outcome := outputWord(reason)
	c.draining.Str(telemetry.KeyOutputOutcome, telemetry.WordOf(outcome))
	c.draining.End()
	if outcome != "drained" {
		c.cfg.Tel.OutputFailed(telemetry.WordOf(outcome))
	}
	switch {
	case c.run != nil && !c.run.ended:
		c.joins = WorkerTurn
	case c.init.pending || c.startup == startupPending:
		c.joins = WorkerStartup
	case c.work.pending:
		c.joins = WorkerSession
	}
	// Requests that nobody will answer any more end here.
	for _, p := range []*pending{&c.init, &c.work} {
		if p.pending {
			p.span.Fail(telemetry.CodeOf("cancelled"))
			p.span.End()
		}
	}
}

func outputWord(reason Reason) string {
	switch reason {
	case ReasonOutputDeadline:
		return "deadline"
	case ReasonOverflow:
		return "overflow"
	case ReasonOutputBroken:
		return "broken"
	case ReasonClosingDeadline:
		return "closing_deadline"
	}
	return "drained"
}

// childBegins says at once which process it is: a child that is killed has no end.
func childBegins(span telemetry.Span) {
	if span.On() {
		span.Int(telemetry.KeyPID, int64(os.Getpid()))
		span.Int(telemetry.KeyProtocolVersion, localagent.Version)
	}
}

// childEnds closes the child's span with how it ended.
func childEnds(tel telemetry.Tel, span telemetry.Span, exit Exit) {
	if !span.On() {
		return
	}
	if exit.Detached {
		tel.Detach()
	}
	span.Int(telemetry.KeyExitCode, int64(exit.Code))
	span.Str(telemetry.KeyExitReason, telemetry.WordOf(string(exit.Reason)))
	span.Bool(telemetry.KeyDetached, exit.Detached)
	switch {
	case exit.Detached:
		span.Fail(telemetry.CodeOf("timeout"))
	case exit.Code != 0:
		span.Fail(0)
	}
	span.End()
}

// runBegan describes a run.
func runBegan(span telemetry.Span, r *run, prompt int) {
	if !span.On() {
		return
	}
	span.Name(telemetry.KeyRunHash, telemetry.WireID(r.id))
	span.Name(telemetry.KeyConversation, telemetry.SessionID(r.session))
	span.Int(telemetry.KeyPromptSize, int64(prompt))
}

// runEnded closes a run's span with what run.finished says, or would have said.
func runEnded(span telemetry.Span, f event.Finished, code localagent.Code) {
	if !span.On() {
		return
	}
	span.Str(telemetry.KeyRunOutcome, telemetry.WordOf(f.Outcome))
	span.Str(telemetry.KeyRunPersistence, telemetry.WordOf(f.Persistence))
	if code != "" {
		span.Fail(telemetry.CodeOf(string(code)))
	}
	span.End()
}

// joinSpan opens the span of waiting for the job that was running.
func (c *conn) joinSpan() telemetry.Span {
	if c.joins == "" {
		return telemetry.Span{}
	}
	span := c.ending.Begin(telemetry.SpanCleanupJoin)
	span.Str(telemetry.KeyWorker, telemetry.WordOf(string(c.joins)))
	return span
}

// sessionSpan opens the span of a session or history operation.
func sessionSpan(span telemetry.Span, action string) telemetry.Span {
	s := span.Begin(telemetry.SpanSessionWork)
	if s.On() {
		s.Str(telemetry.KeySessionAction, telemetry.WordOf(action))
	}
	return s
}
