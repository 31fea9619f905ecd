package runner

import (
	"context"
	"errors"

	"magicode/internal/provider"
	"magicode/internal/script"
	"magicode/internal/tool"
	"magicode/telemetry"
)

// called describes a call to telemetry: which tool, where it was called from,
// and how it ended; never with what.
func (r *run) called(ctx context.Context, span telemetry.Span, o origin, name string, res tool.Result, err error) {
	r.toolCalls++
	if !span.On() {
		return
	}
	from := "direct"
	if o.parent != "" {
		from = "code_mode"
	}
	if tool.IsMCPName(name) {
		name = "mcp" // its own is the user's
	}
	span.Str(telemetry.KeyTool, telemetry.WordOf(name))
	span.Int(telemetry.KeyToolSeq, int64(r.toolCalls))
	span.Str(telemetry.KeyToolOrigin, telemetry.WordOf(from))
	span.Int(telemetry.KeyToolOutputBytes, int64(len(res.Content)))
	outcome := "ok"
	switch {
	case errors.Is(err, ErrDenied):
		outcome = "denied"
	case ctx.Err() != nil:
		outcome = "cancelled"
	case err != nil || !res.Success:
		outcome = "error"
		span.Fail(telemetry.CodeOf("tool_error"))
	}
	span.Str(telemetry.KeyToolOutcome, telemetry.WordOf(outcome))
}

// scriptEnded tells what a script came to: how many calls it made, and the limit
// that ended it.
func scriptEnded(span telemetry.Span, calls int, limit script.Kind) {
	if !span.On() {
		return
	}
	word := "none"
	if limit != "" {
		word = limitWords[limit]
	}
	span.Int(telemetry.KeyCodeModeCalls, int64(calls))
	span.Str(telemetry.KeyCodeModeLimit, telemetry.WordOf(word))
}

// limitWords are telemetry's words for the limits of scripts.
var limitWords = map[script.Kind]string{
	script.SourceLimit: "source", script.InnerCallLimit: "inner_calls", script.ReturnLimit: "return", script.TimeLimit: "time",
	script.MemoryLimit: "memory", script.InnerResultLimit: "inner_result", script.TotalResultLimit: "total_result",
	script.BatchHistoryLimit: "batch_history", script.SessionHistoryLimit: "session_history",
}

// spending is what the requests of a run have cost, in tokens.
type spending struct {
	in, out int64
	known   bool // of one of them
}

func (s *spending) add(u provider.Usage) {
	s.in += u.Effective()
	if u.Output != nil {
		s.out += *u.Output
	}
	s.known = s.known || u.Input != nil || u.Output != nil
}

// accounted gives the run's span what the run has come to.
func (r *run) accounted(span telemetry.Span) {
	if !span.On() {
		return
	}
	span.Int(telemetry.KeyRunInferenceCalls, int64(r.sequence))
	span.Int(telemetry.KeyRunToolCalls, int64(r.toolCalls))
	segments, bytes := r.text.totals()
	span.Int(telemetry.KeyRunSegments, int64(segments))
	span.Int(telemetry.KeyRunContentBytes, int64(bytes))
	if r.spent.known {
		span.Int(telemetry.KeyInputTokens, r.spent.in)
		span.Int(telemetry.KeyOutputTokens, r.spent.out)
	}
}

// compacting opens the span of a compaction; place is why there is one.
func (r *run) compacting(ctx context.Context, carry int) (context.Context, telemetry.Span) {
	ctx, span := r.Tel.Begin(ctx, telemetry.SpanCompaction)
	if !span.On() {
		return ctx, span
	}
	place := "stream"
	switch {
	case carry > 0:
		place = "preflight"
	case r.finalText != "":
		place = "turn_end"
	}
	span.Str(telemetry.KeyCompactionPlace, telemetry.WordOf(place))
	span.Int(telemetry.KeyTokensBefore, int64(r.project()))
	return ctx, span
}
