// Package telemetry is the facade that every package may use to report spans
// and metrics. The zero value of Tel does nothing and costs nothing; no
// OpenTelemetry type is in this API. Values are enumerations, numbers,
// booleans or salted hashes by construction (telemetry.md 3.2, 7.2).
package telemetry

import (
	"context"
	"sync/atomic"
	"time"
)

// Tel is a handle that is copied freely. The zero value is off.
type Tel struct{ p *atomic.Pointer[core] }

type core struct{}

// Span is one open span. The zero value is nil-safe.
type Span struct{ s *openSpan }

type openSpan struct{}

// FrameKind says what a frame is.
type FrameKind uint8

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
)

// On reports whether any sink is on.
func (t Tel) On() bool { return t.p != nil && t.p.Load() != nil }

// FrameIn reports one complete input frame: its parse time up to the admission verdict and its size without LF.
func (t Tel) FrameIn(now time.Time, parse time.Duration, size int, kind FrameKind) {}

// FrameQueued reports the output queue's length after an enqueue.
func (t Tel) FrameQueued(pending int) {}

// FrameWritten reports a frame whose last byte was accepted.
func (t Tel) FrameWritten(now, deadline time.Time, size int, kind FrameKind, pending int) {}

// WriteCall reports one write: the bytes accepted, and whether it would have blocked.
func (t Tel) WriteCall(n int, blocked bool) {}

// WorkerEvents reports the length of the channel between a run and the connection.
func (t Tel) WorkerEvents(pending int) {}

// DeltaDropped reports a delta whose text was thrown away at a boundary.
func (t Tel) DeltaDropped() {}

// Begin opens a span; off, it returns ctx unchanged and the zero Span.
func (t Tel) Begin(ctx context.Context, k Kind) (context.Context, Span) { return ctx, Span{} }

// Kind names a span of the catalogue (telemetry.md 4.3).
type Kind uint8

const (
	SpanChild Kind = iota
	SpanRequest
	SpanStartup
	SpanStartupSettings
	SpanStartupInstructions
	SpanStartupSkills
	SpanStartupProfiles
	SpanStartupReadiness
	SpanSessionWork
	SpanSessionLease
	SpanHistoryRead
	SpanHistoryProject
	SpanHistoryPage
	SpanHistoryFingerprint
	SpanRun
	SpanRunValidate
	SpanRunPrepare
	SpanRunPreflight
	SpanChat
	SpanProviderAttempt
	SpanProviderRetryWait
	SpanExecuteTool
	SpanApprovalWait
	SpanSessionAppend
	SpanCleanup
	SpanCleanupStep
)

// Fail marks the span with a closed error word (a wire code or an error type of the catalogue).
func (s Span) Fail(code string) {}

// End closes the span. It is idempotent.
func (s Span) End() {}

// New returns a dormant handle: nothing is opened and no goroutine runs until
// Start, and never unless the user asked for it.
func New(environ []string, start time.Time) Tel { return Tel{} }

// Start decides, once, whether any sink is on: from the environment and the
// raw "telemetry" value of the global settings (nil for none).
func (t Tel) Start(global []byte) {}

// Exit ends a normal end: a bounded flush of what is on.
func (t Tel) Exit(code int, reason string, detached bool) {}
