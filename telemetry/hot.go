package telemetry

import "time"

// FrameKind says what a frame is.
type FrameKind uint8

// Kinds of frames.
const (
	FrameRequest FrameKind = iota
	FrameInvalid
	FrameResponse
	FrameInputPersisted
	FrameMessageDelta
	FrameMessageReconcile
	FrameActivity
	FrameApprovalRequested
	FrameDiagnostic
	FrameRunFinished
	frameKindCount
)

// nearMiss is the margin below which a frame was nearly too late (telemetry.md 6.2).
const nearMiss = 500 * time.Millisecond

// On reports whether a caller may spend a clock reading on telemetry: some sink
// is on, or it is not decided yet.
func (t Tel) On() bool { return t.core() != nil }

// FrameIn reports one complete input frame: its parse time up to the admission verdict and its size without LF.
func (t Tel) FrameIn(_ time.Time, parse time.Duration, size int, kind FrameKind) {
	c := t.core()
	if c == nil {
		return
	}
	i := 0
	if kind == FrameInvalid {
		i = 1
	}
	c.hot.framesIn[i].Add(1)
	c.hot.sizeIn.observe(int64(size))
	c.hot.parse[i].observe(int64(parse))
}

// FrameQueued reports the output queue's length after an enqueue.
func (t Tel) FrameQueued(pending int) {
	if c := t.core(); c != nil {
		c.hot.pending.set(int64(pending))
	}
}

// FrameWritten reports a frame whose last byte was accepted, and how many are
// queued behind it. deadline is its absolute one; zero says that the frame left
// in the moment it was queued, for which no clock is read (telemetry.md 3.3).
func (t Tel) FrameWritten(now, deadline time.Time, size int, kind FrameKind, pending int) {
	c := t.core()
	if c == nil {
		return
	}
	if kind >= frameKindCount {
		return
	}
	margin := outputDeadline
	if !deadline.IsZero() {
		margin = deadline.Sub(now)
	}
	c.hot.framesOut[kind].Add(1)
	c.hot.sizeOut.observe(int64(size))
	c.hot.margin.observe(int64(margin))
	if margin < nearMiss {
		c.hot.nearMisses.Add(1)
	}
	c.hot.oldest.set(int64(outputDeadline - margin))
	c.hot.pending.set(int64(pending))
}

// outputDeadline is the protocol's: a frame is written 2,000 ms after it was queued.
const outputDeadline = 2 * time.Second

// WriteCall reports one write: the bytes accepted, and whether it would have
// blocked or was partial.
func (t Tel) WriteCall(n int, blocked bool) {
	c := t.core()
	if c == nil {
		return
	}
	if n > 0 {
		c.hot.writeSize.observe(int64(n))
	}
	if blocked {
		c.hot.writeBlocked.Add(1)
	}
}

// OutputFailed reports how the output ended: "deadline", "overflow", "broken"
// or "closing_deadline".
func (t Tel) OutputFailed(outcome Word) {
	if c := t.core(); c != nil {
		c.slow.count(metricOutputFailures, labels{}.with(KeyOutputOutcome, outcome))
	}
}

// WorkerEvents reports the length of the channel between a run and the connection.
func (t Tel) WorkerEvents(pending int) {
	if c := t.core(); c != nil {
		c.hot.worker.set(int64(pending))
	}
}

// EventWaited reports how long a critical event waited for room in that channel.
func (t Tel) EventWaited(d time.Duration) {
	if c := t.core(); c != nil {
		c.hot.workerWait.observe(int64(d))
	}
}

// DeltaQueued reports a delta that was taken, and will be a frame of its own.
func (t Tel) DeltaQueued() {
	if c := t.core(); c != nil {
		c.hot.deltas[deltaQueued].Add(1)
	}
}

// DeltaMerged reports a delta that was taken into the one waiting before it.
func (t Tel) DeltaMerged() {
	if c := t.core(); c != nil {
		c.hot.deltas[deltaMerged].Add(1)
	}
}

// DeltaDropped reports a delta whose text was thrown away at a boundary.
func (t Tel) DeltaDropped() {
	if c := t.core(); c != nil {
		c.hot.deltas[deltaDropped].Add(1)
	}
}

// Rejected reports a request that was answered with an error code before it
// did anything. The method may be "_OTHER".
func (t Tel) Rejected(m Word, code Code) {
	if c := t.core(); c != nil {
		c.slow.count(metricRejections, labels{}.with(KeyMethod, m).withCode(code))
		if d := c.decided.Load(); d != nil {
			d.news() // it may be all that ever happens, and has no span
		}
	}
}

// StageTook reports a stage of the start that has no span of its own; code is 0
// where failed is false.
func (t Tel) StageTook(stage Word, d time.Duration, failed bool, code Code) {
	c := t.core()
	if c == nil {
		return
	}
	l := labels{}.with(KeyStartupPhase, stage)
	if failed {
		l = l.withCode(code)
	}
	c.slow.observe(metricStartup, l, d.Seconds())
}

// Synced reports one sync of a session's file: "data", or its name in the
// "directory". Its metadata are a cache, which is never synced.
func (t Tel) Synced(target Word, d time.Duration) {
	if c := t.core(); c != nil {
		c.slow.observe(metricFsync, labels{}.with(KeyFsyncTarget, target), d.Seconds())
	}
}

// LockWaited reports how long an append waited for the session's lock.
func (t Tel) LockWaited(d time.Duration) {
	if c := t.core(); c != nil {
		c.slow.observe(metricLockWait, labels{}, d.Seconds())
	}
}

// MCPSession reports how long the connection to a server lasted, and, where it
// did not end in order, the word for why.
func (t Tel) MCPSession(transport Word, d time.Duration, failed bool, code Code) {
	c := t.core()
	if c == nil {
		return
	}
	l := labels{}.with(KeyTransport, transport)
	if failed {
		l = l.withCode(code)
	}
	c.slow.observe(metricMCPSession, l, d.Seconds())
}

// ApprovalsQueued reports that one more question waits behind the open one, or
// one less.
func (t Tel) ApprovalsQueued(more int) {
	if c := t.core(); c != nil {
		c.queued.Add(int64(more))
	}
}

// ApprovalAnswered counts an answer of the host. One to a question that is not
// open is stale.
func (t Tel) ApprovalAnswered(allow, stale bool) {
	c := t.core()
	if c == nil {
		return
	}
	answer := "deny"
	switch {
	case stale:
		answer = "stale"
	case allow:
		answer = "allow"
	}
	c.slow.count(metricAnswers, labels{}.with(KeyAnswer, WordOf(answer)))
}
