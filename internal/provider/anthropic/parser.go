package anthropic

import (
	"math"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
)

// Parser reads one stream (providers.md 14.2). It is an exchange.Parser.
type Parser struct {
	sink  *exchange.Sink
	state exchange.State
	usage provider.Usage
	open  map[int64]*block
	trace trace
	cut   string // why the response is not whole
	model string
}

// NewParser returns a parser that reports to sink.
func NewParser(sink *exchange.Sink) exchange.Parser {
	return &Parser{sink: sink, usage: provider.Usage{CacheSeparate: true}, open: make(map[int64]*block)}
}

// State tells how far the response has come.
func (p *Parser) State() exchange.State { return p.state }

// Model is the model that the response named.
func (p *Parser) Model() string { return p.model }

// Tier is not read from this API.
func (p *Parser) Tier() string { return "" }

// event is what one event holds, and what its delta holds.
type event struct {
	typ, index, block, message, usage jsonscan.Value
	content                           jsonscan.Value // of an answer in one piece
	kind, text, partial, thinking     jsonscan.Value // of the delta; kind is its type
	signature, data, stop             jsonscan.Value
	hasDelta                          bool
}

// note takes one member of the event.
func (e *event) note(k, m jsonscan.Value) {
	switch string(k) {
	case `"type"`:
		e.typ = m
	case `"index"`:
		e.index = m
	case `"content_block"`:
		e.block = m
	case `"delta"`:
		e.hasDelta = true
		for k, v := range m.Members() {
			e.noteDelta(k, v)
		}
	case `"message"`:
		e.message = m
	case `"usage"`:
		e.usage = m
	case `"content"`:
		e.content = m
	}
}

func (e *event) noteDelta(k, m jsonscan.Value) {
	switch string(k) {
	case `"type"`:
		e.kind = m
	case `"text"`:
		e.text = m
	case `"partial_json"`:
		e.partial = m
	case `"thinking"`:
		e.thinking = m
	case `"signature"`:
		e.signature = m
	case `"data"`:
		e.data = m
	case `"stop_reason"`:
		e.stop = m
	}
}

// Event takes the data of one event.
func (p *Parser) Event(data []byte) error {
	if exchange.IsDone(data) {
		return nil // gateways add it; it says nothing here
	}
	var e event
	v, err := exchange.ReadMembers(data, e.note)
	if err != nil {
		return err
	}
	p.trace.note(&e)
	if e.typ.Kind() != jsonscan.String {
		if exchange.ErrorObject(v) != nil {
			return reported(v, data)
		}
		return nil
	}
	switch string(e.typ[1 : len(e.typ)-1]) {
	case "message_start":
		p.sink.Progress()
		p.model = e.message.Get("model").LenientText()
		p.noteUsage(e.message.Get("usage"))
	case "content_block_start":
		return p.start(&e)
	case "content_block_delta":
		return p.delta(&e)
	case "content_block_stop":
		p.stop(&e)
	case "message_delta":
		p.noteUsage(e.usage)
		p.noteStop(e.stop)
	case "message_stop":
		return p.end()
	case "message":
		p.model = v.Get("model").LenientText()
		return p.whole(&e)
	case "error":
		return reported(v, data)
	}
	return nil
}

// whole takes an answer that came in one piece, as Request.Whole asks for it.
// Calls are not expected in one, and never dropped in silence.
func (p *Parser) whole(e *event) error {
	for block := range e.content.Elements() {
		switch typ := block.Get("type"); {
		case typ.Is("text"):
			p.sink.Text(block.Get("text"))
		case typ.Is("thinking"), typ.Is("redacted_thinking"):
		default:
			return exchange.EndedEarly("provider answered with a call in place of a stream")
		}
	}
	p.noteUsage(e.usage)
	return p.end()
}

// end is the terminal event.
func (p *Parser) end() error {
	if len(p.open) > 0 {
		return exchange.EndedEarly("provider stream ended with unfinished blocks")
	}
	p.sink.Progress()
	if p.cut != "" {
		p.sink.Emit(provider.Event{Kind: provider.EventCut, Text: p.cut})
	}
	p.state = exchange.Final
	return nil
}

// noteStop remembers why the model stopped, where it was not done.
func (p *Parser) noteStop(reason jsonscan.Value) {
	switch {
	case reason.Is("max_tokens"), reason.Is("model_context_window_exceeded"):
		p.cut = provider.CutLength
	case reason.Is("refusal"):
		p.cut = provider.CutFilter
	}
}

// Finish ends the stream; a failure with open blocks leaves a trace.
func (p *Parser) Finish(complete bool) error {
	if !complete && len(p.open) > 0 {
		p.sink.Trace(p.trace.record(p.open))
	}
	return nil
}

func (p *Parser) noteUsage(v jsonscan.Value) {
	if v.Kind() != jsonscan.Object {
		return
	}
	u := &p.usage
	found := count(&u.Input, v.Get("input_tokens"))
	found = count(&u.Output, v.Get("output_tokens")) || found
	found = count(&u.CacheRead, v.Get("cache_read_input_tokens")) || found
	found = count(&u.CacheWrite, v.Get("cache_creation_input_tokens")) || found
	if !found {
		return
	}
	var total int64
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		if n != nil {
			total += *n
		}
	}
	u.Total = &total
	p.sink.Usage(*u)
}

func count(dst **int64, v jsonscan.Value) bool {
	n, ok := v.Uint64()
	if !ok || n > math.MaxInt64/4 {
		return false
	}
	c := int64(n)
	*dst = &c
	return true
}

// reported is an error event. Overload and limits may pass by; the rest would
// be the same again.
func reported(v jsonscan.Value, data []byte) error {
	cause := exchange.ErrorObject(v)
	if cause == nil {
		cause = v
	}
	detail := exchange.ErrorDetail(cause)
	if exchange.IsTooLong(cause) {
		return exchange.TooLong(detail)
	}
	err := exchange.Failed("provider reported an error in its stream", detail, data)
	switch typ := cause.Get("type"); {
	case typ.Is("overloaded_error"), typ.Is("api_error"), typ.Is("rate_limit_error"):
	default:
		err.Kind, err.Retryable = provider.ErrPlain, false
	}
	return err
}
