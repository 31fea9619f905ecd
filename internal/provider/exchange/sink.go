package exchange

import (
	"context"
	"encoding/json"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// Sink takes what a parser finds and forwards it. Deltas of one kind and item
// are merged until the read buffer is drained or something else comes
// (decision 42). After the first error of the receiver, or once the context has
// ended, everything is dropped; the exchange stops there.
type Sink struct {
	ctx  context.Context
	emit func(provider.Event) error
	err  error

	open   bool // kind, item and buf hold deltas that are not yet forwarded
	kind   provider.EventKind
	item   string
	buf    []byte
	texted bool // this read held deltas

	usage      provider.Usage
	usageOwed  bool // usage changed since it was last forwarded
	progressed bool // semantic progress since the last read
	anything   bool // semantic progress in this attempt
	tools      bool // a call had begun to arrive
	alive      bool // the model works, but nothing of it may be kept
}

// Text adds answer text. Values that are no string, and empty ones, are nothing.
func (s *Sink) Text(v jsonscan.Value) { s.delta(provider.EventText, "", v) }

// TextBytes adds answer text that is already decoded.
func (s *Sink) TextBytes(text []byte) { s.deltaBytes(provider.EventText, text) }

// Summary adds a piece of a provider summary.
func (s *Sink) Summary(item string, v jsonscan.Value) { s.delta(provider.EventSummaryDelta, item, v) }

// Reasoning adds private reasoning.
func (s *Sink) Reasoning(v jsonscan.Value) { s.delta(provider.EventRawReasoning, "", v) }

// ReasoningBytes adds private reasoning that is already decoded.
func (s *Sink) ReasoningBytes(text []byte) { s.deltaBytes(provider.EventRawReasoning, text) }

func (s *Sink) delta(kind provider.EventKind, item string, v jsonscan.Value) {
	if v.Kind() != jsonscan.String || len(v) == 2 {
		return
	}
	s.begin(kind, item)
	s.buf = AppendText(s.buf, v)
}

func (s *Sink) deltaBytes(kind provider.EventKind, text []byte) {
	if len(text) == 0 {
		return
	}
	s.begin(kind, "")
	s.buf = append(s.buf, text...)
}

func (s *Sink) begin(kind provider.EventKind, item string) {
	s.Progress()
	s.texted = true
	if s.open && (s.kind != kind || s.item != item) {
		s.flush()
	}
	s.open, s.kind, s.item = true, kind, item
}

// ToolProgress tells that a call, or more of its arguments, has arrived.
func (s *Sink) ToolProgress() {
	s.begin(provider.EventToolProgress, "")
	s.tools = true
}

// Emit forwards an event of any other kind behind the deltas before it.
func (s *Sink) Emit(ev provider.Event) {
	s.Progress()
	s.flush()
	s.forward(ev)
}

// Trace forwards what a parser remembers of a stream that broke. It is no progress.
func (s *Sink) Trace(record json.RawMessage) {
	s.flush()
	s.forward(provider.Event{Kind: provider.EventTrace, Raw: record})
}

// Usage notes the counters seen so far. They are forwarded when a read brought
// no deltas, and at the end: some servers repeat them with every token.
func (s *Sink) Usage(u provider.Usage) {
	s.Progress()
	s.usage = u
	s.usageOwed = u.Input != nil
}

// Progress counts as semantic progress (providers.md 7.2).
func (s *Sink) Progress() { s.progressed, s.anything = true, true }

// Alive holds off the semantic watchdog without being progress: the model
// works, on something that must be ignored.
func (s *Sink) Alive() { s.alive = true }

// flush forwards the open deltas.
func (s *Sink) flush() {
	if !s.open {
		return
	}
	s.open = false
	ev := provider.Event{Kind: s.kind, ItemID: s.item}
	if s.kind != provider.EventToolProgress {
		ev.Text = string(s.buf)
	}
	s.buf = s.buf[:0]
	s.forward(ev)
}

// drained is called when all of a network read has been parsed. It reports
// whether the semantic watchdog starts anew.
func (s *Sink) drained() bool {
	s.flush()
	if !s.texted {
		s.flushUsage()
	}
	moved := s.progressed || s.alive
	s.texted, s.progressed, s.alive = false, false, false
	return moved
}

// finish forwards all that is left.
func (s *Sink) finish() {
	s.flush()
	s.flushUsage()
}

func (s *Sink) flushUsage() {
	if s.usageOwed {
		s.usageOwed = false
		u := s.usage
		s.forward(provider.Event{Kind: provider.EventUsage, Usage: &u})
	}
}

func (s *Sink) forward(ev provider.Event) {
	if s.err != nil {
		return
	}
	if s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
		return
	}
	if s.err = s.emit(ev); s.err == nil && s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
	}
}

// AppendText appends a decoded string; half a surrogate pair becomes U+FFFD
// (decision 14).
func AppendText(dst []byte, v jsonscan.Value) []byte {
	out, ok := v.AppendText(dst)
	if !ok {
		return append(dst, v.LenientText()...)
	}
	return out
}
