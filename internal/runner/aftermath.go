package runner

import (
	"encoding/json"

	"magicode/internal/redact"
	"magicode/internal/session"
)

// Bounds of what a broken response leaves in the file (storage.md 6.4).
const (
	maxTraces       = 4
	maxTraceBytes   = 16 << 10 // a parser's own bound is lower
	maxPreviewChars = 4000
	maxPreviewBytes = 64 << 10 // read beyond the bound, so that redaction sees whole secrets
)

// cut is what is known of a response in case that it breaks off.
type cut struct {
	reasoned bool // reasoning had begun to arrive
	tool     bool // a call had begun to arrive
	preview  []byte
	records  []json.RawMessage // of the provider's parser
}

// reason notes a piece of reasoning.
func (c *cut) reason(text string) {
	c.reasoned = c.reasoned || text != ""
	if room := maxPreviewBytes - len(c.preview); room > 0 {
		c.preview = append(c.preview, redact.Cut(text, room)...)
	}
}

// trace keeps a parser's record of a stream that broke.
func (c *cut) trace(record json.RawMessage) {
	if len(c.records) < maxTraces && len(record) <= maxTraceBytes {
		c.records = append(c.records, record)
	}
}

// traces are the records of the streams that broke.
func (p *response) traces() []session.Event {
	if p == nil {
		return nil
	}
	var out []session.Event
	for _, raw := range p.cut.records {
		out = append(out, session.Event{Kind: session.KindProviderStreamTrace, Payload: raw})
	}
	return out
}

// aftermath is what follows the terminal status of a run whose last request
// failed or was cancelled (runner.md 16.3): what the parser remembers, and what
// a later turn must know of the part that never became a record. Nil-safe: a
// run that ended between requests leaves nothing.
func (p *response) aftermath() []session.Event {
	out := p.traces()
	if p == nil {
		return out
	}
	// A call that arrived whole is lost all the same: it was not recorded, and it
	// did not run.
	unsafe := p.cut.tool || len(p.calls) > 0
	if !p.cut.reasoned && !unsafe {
		return out
	}
	payload := map[string]any{"observed_reasoning_delta": p.cut.reasoned, "unsafe_tool_call_progress": unsafe}
	if text := p.cut.previewText(); text != "" {
		payload["reasoning_preview"] = text
	}
	return append(out, session.Event{Kind: session.KindAbortRecovery, Payload: payload})
}

// previewText is the beginning of the reasoning, redacted before it is cut.
func (c *cut) previewText() string {
	text := redact.Display(string(c.preview))
	n := 0
	for i := range text {
		if n == maxPreviewChars {
			return text[:i]
		}
		n++
	}
	return text
}
