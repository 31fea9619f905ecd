package session

import (
	"errors"
	"time"

	"magicode/telemetry"
)

// appended describes an append to telemetry: what class of record it was, its
// size with the line ends, and what became of it.
func appended(span telemetry.Span, events []Event, size int, o Outcome) {
	if !span.On() {
		return
	}
	class := "other"
	if len(events) > 0 {
		class = classOf(events[len(events)-1].Kind)
	}
	span.Str(telemetry.KeyAppendClass, telemetry.WordOf(class))
	span.Int(telemetry.KeyAppendBytes, int64(size))
	span.Str(telemetry.KeyAppendOutcome, telemetry.WordOf(outcomeWord(o)))
	if !o.OK() {
		span.Fail(telemetry.CodeOf("append"))
	}
}

// classOf maps record kinds to the classes of telemetry.md 4.3.
func classOf(k Kind) string {
	switch k {
	case KindUserInput:
		return "input"
	case KindAssistantOutput, KindAssistantChunk, KindReasoningSummary:
		return "assistant"
	case KindToolCall, KindToolResult:
		return "tool"
	case KindCodeModeToolCall, KindCodeModeToolResult, KindCodeModeContext, KindCodeModeWarning, KindCodeModeAssessment:
		return "code_mode"
	case KindProviderResponseItem, KindProviderStreamTrace:
		return "provider"
	case KindSessionUsage:
		return "usage"
	case KindTurnStatus:
		return "status"
	}
	return "other"
}

func outcomeWord(o Outcome) string {
	switch o {
	case Durable:
		return "durable"
	case NotWritten:
		return "not_written"
	case RolledBack:
		return "rolled_back"
	case Uncertain:
		return "uncertain"
	case MetadataFailed:
		return "metadata_failed"
	}
	return ""
}

// leased closes the span of taking a session's locks.
func leased(span telemetry.Span, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, ErrBusy):
		outcome = "busy"
	case err != nil:
		outcome = "invalid"
	}
	span.Str(telemetry.KeyLeaseOutcome, telemetry.WordOf(outcome))
	span.End()
}

// timed returns what tells how much time has passed since, to a span and to
// report; off, it reads no clock.
func timed(span telemetry.Span, key telemetry.IntKey, report func(time.Duration)) func() {
	if !span.On() {
		return func() {}
	}
	began := time.Now()
	return func() {
		took := time.Since(began)
		span.Dur(key, took)
		report(took)
	}
}

// syncedData and timedName report syncs of a session's file and of its folder.
func (h *Handle) syncedData(d time.Duration) {
	h.store.o.Tel.Synced(telemetry.WordOf("data"), d)
}

func (h *Handle) timedName() func() {
	if !h.store.o.Tel.On() {
		return func() {}
	}
	began := time.Now()
	return func() { h.store.o.Tel.Synced(telemetry.WordOf("directory"), time.Since(began)) }
}
