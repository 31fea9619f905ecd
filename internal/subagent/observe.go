package subagent

import (
	"context"
	"time"

	"magicode/internal/redact"
	"magicode/telemetry"
)

// began describes a task to telemetry: its place and depth, whose profile it
// has, and how long it waited for a worker; never what it is to do.
func (t *task) began() {
	if !t.span.On() {
		return
	}
	t.span.Int(telemetry.KeySubagentIndex, int64(t.place))
	t.span.Int(telemetry.KeySubagentDepth, int64(t.Depth))
	t.span.Dur(telemetry.KeySubagentQueueMS, time.Since(t.queued))
	if t.Identity == nil {
		return
	}
	t.span.Name(telemetry.KeySubagentHash, telemetry.AgentName(*t.Identity))
	if name, safe := redact.SafeName(*t.Identity); safe {
		t.span.Name(telemetry.KeyAgent, telemetry.PlainName(name))
	}
}

// observed closes the span with what the task came to.
func (t *task) observed(ctx context.Context) {
	if !t.span.On() {
		return
	}
	outcome := "completed"
	switch {
	case t.completed:
	case ctx.Err() != nil:
		outcome = "cancelled"
	default:
		outcome = "failed"
		t.span.Fail(telemetry.CodeOf("execution_failed"))
	}
	t.span.Str(telemetry.KeySubagentOutcome, telemetry.WordOf(outcome))
	all := t.meter.whole()
	t.span.Int(telemetry.KeyInputTokens, all.EffectiveInput)
	t.span.Int(telemetry.KeyOutputTokens, all.Output)
	t.span.Int(telemetry.KeyRunInferenceCalls, int64(t.meter.requests))
	t.span.Int(telemetry.KeyRunToolCalls, int64(t.sink.tools))
	t.span.End()
}
