package factory

import (
	"context"
	"errors"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/redact"
	"magicode/telemetry"
)

// chat is one generation as telemetry sees it: its model and purpose, when the
// first of it came, what it used, and how it ended.
type chat struct {
	span   telemetry.Span
	began  time.Time
	first  bool
	chunks int64
	usage  *provider.Usage
	calls  bool   // the answer holds calls
	cut    string // why the answer is not whole
	// builtin: the provider is not the user's own.
	builtin bool
}

// chat opens the span of a generation. Off, it does nothing.
func (s *shaped) chat(ctx context.Context, req *provider.Request) (context.Context, *chat) {
	ctx, span := s.tel.Begin(ctx, telemetry.SpanChat)
	c := &chat{span: span}
	if !span.On() {
		return ctx, c
	}
	c.began = time.Now()
	builtin, vendor := true, "openai"
	switch s.id {
	case "openai-codex":
	case "anthropic", "claude-subscription":
		vendor = "anthropic"
	default:
		builtin, vendor = false, ""
	}
	c.builtin = builtin
	id := s.id
	if !builtin {
		id = "custom"
	}
	_, safe := redact.SafeName(req.Model)
	span.Str(telemetry.KeyProvider, telemetry.WordOf(id))
	span.Str(telemetry.KeyProviderName, telemetry.WordOf(vendor))
	span.Name(telemetry.KeyModel, telemetry.Model(req.Model, builtin, safe))
	span.Str(telemetry.KeyChatPurpose, telemetry.WordOf(string(s.purpose)))
	span.Str(telemetry.KeyReasoningLevel, telemetry.WordOf(string(req.Level)))
	if !builtin {
		span.Name(telemetry.KeyProviderHash, telemetry.ProviderName(s.id))
		if name, safe := redact.SafeName(s.id); safe {
			span.Name(telemetry.KeyProviderID, telemetry.PlainName(name))
		}
	}
	span.Bool(telemetry.KeyCompacted, req.Compacted)
	if req.MaxOutputTokens > 0 {
		span.Int(telemetry.KeyMaxTokens, int64(req.MaxOutputTokens))
	}
	return ctx, c
}

// seen watches the events on their way.
func (c *chat) seen(emit func(provider.Event) error) func(provider.Event) error {
	if !c.span.On() {
		return emit
	}
	return func(ev provider.Event) error {
		c.chunks++
		switch ev.Kind {
		case provider.EventUsage:
			c.usage = ev.Usage
		case provider.EventIdentity:
			c.answeredBy(ev.Identity)
		case provider.EventCut:
			c.cut = ev.Text
		case provider.EventNotice, provider.EventTier:
		default:
			c.calls = c.calls || ev.Kind == provider.EventCall
			if !c.first {
				c.first = true
				c.span.Event(telemetry.EventFirstChunk)
				c.span.Dur(telemetry.KeyFirstChunkMS, time.Since(c.began))
			}
		}
		return emit(ev)
	}
}

func (c *chat) answeredBy(id *provider.Identity) {
	if id != nil && id.ResponseModel != "" {
		_, safe := redact.SafeName(id.ResponseModel)
		c.span.Name(telemetry.KeyResponseModel, telemetry.Model(id.ResponseModel, c.builtin, safe))
	}
}

func (c *chat) ended(ctx context.Context, err error) {
	if !c.span.On() {
		return
	}
	defer c.span.End()
	c.span.Int(telemetry.KeyStreamChunks, c.chunks)
	c.counted()
	c.span.Str(telemetry.KeyFinishReasons, telemetry.WordOf(c.finish(err)))
	var perr *provider.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		c.span.Fail(telemetry.CodeOf("cancelled"))
	case errors.As(err, &perr):
		c.span.Fail(telemetry.CodeOf(exchange.ErrorType(perr)))
	default:
		c.span.Fail(0)
	}
}

// finish is the finish reason, as far as the neutral stream passes it on.
func (c *chat) finish(err error) string {
	switch {
	case err != nil:
		return "error"
	case c.cut != "":
		return c.cut
	case c.calls:
		return "tool_calls"
	}
	return "stop"
}

func (c *chat) counted() {
	if c.usage == nil {
		return
	}
	for _, v := range []struct {
		key telemetry.IntKey
		n   *int64
	}{
		{telemetry.KeyInputTokens, c.usage.Input}, {telemetry.KeyOutputTokens, c.usage.Output},
		{telemetry.KeyCacheReadTokens, c.usage.CacheRead}, {telemetry.KeyCacheWriteTokens, c.usage.CacheWrite},
		{telemetry.KeyReasoningTokens, c.usage.Reasoning},
	} {
		if v.n != nil {
			c.span.Int(v.key, *v.n)
		}
	}
}
