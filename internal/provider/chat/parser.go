package chat

import (
	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"
)

// maxReasoningBytes bounds the private reasoning that is gathered for its record.
const maxReasoningBytes = 1 << 20

// finish says what the provider's closing reason means (providers.md 13.2).
type finish uint8

const (
	finishNone    finish = iota
	finishCalls          // complete; pending calls are complete too
	finishCut            // complete as far as it goes; pending calls are not
	finishUnknown        // says nothing; [DONE] decides, pending calls are dropped
)

// Parser reads one stream. It is an exchange.Parser.
type Parser struct {
	sink   *exchange.Sink
	state  exchange.State
	reason finish
	cut    string // why the response is not whole, until that was told
	model  string
	tier   string
	usage  provider.Usage

	filter    thinkFilter
	scratch   []byte
	reasoning []byte // private, for its record
	recorded  bool
	streamed  bool // answer text came in deltas
	called    bool // calls came in deltas
	calls     calls
}

// NewParser returns a parser that reports to sink.
func NewParser(sink *exchange.Sink) exchange.Parser { return &Parser{sink: sink} }

// NewInlineParser is NewParser for a model that ends its reasoning with
// </think> and never opens it: text is held back until then.
func NewInlineParser(sink *exchange.Sink) exchange.Parser {
	return &Parser{sink: sink, filter: thinkFilter{mode: thinkHeld}}
}

// State tells how far the response has come.
func (p *Parser) State() exchange.State { return p.state }

// Model is the model that the stream named.
func (p *Parser) Model() string { return p.model }

// Tier is the service tier that the stream named.
func (p *Parser) Tier() string { return p.tier }

// chunk is what one event holds.
type chunk struct {
	choice, usage, model, tier jsonscan.Value
	failed                     bool // an error may be in it
}

// note takes one member of the chunk.
func (c *chunk) note(k, m jsonscan.Value) {
	switch string(k) {
	case `"choices"`:
		for first := range m.Elements() {
			c.choice = first
			break
		}
	case `"usage"`:
		c.usage = m
	case `"x_groq"`:
		if u := m.Get("usage"); u != nil && c.usage == nil {
			c.usage = u
		}
	case `"model"`:
		c.model = m
	case `"service_tier"`:
		c.tier = m
	case `"error"`:
		c.failed = m.Kind() != jsonscan.Null
	case `"object"`:
		c.failed = c.failed || m.Is("error")
	}
}

// Event takes the data of one event.
func (p *Parser) Event(data []byte) error {
	if exchange.IsDone(data) {
		p.done()
		return nil
	}
	var c chunk
	v, err := exchange.ReadMembers(data, c.note)
	if err != nil {
		return err
	}
	if c.failed {
		if err := reported(v, data); err != nil {
			return err
		}
	}
	if p.model == "" {
		p.model = c.model.LenientText()
	}
	if c.tier.Kind() == jsonscan.String {
		if t := exchange.CleanTier(c.tier.LenientText()); t != "" {
			p.tier = t
		}
	}
	if responses.MergeUsage(&p.usage, c.usage) {
		p.sink.Usage(p.usage)
	}
	return p.choice(c.choice, data)
}

// choice handles choices[0].
func (p *Parser) choice(choice jsonscan.Value, data []byte) error {
	if choice == nil {
		return nil
	}
	var delta, message, reason, failure jsonscan.Value
	for k, m := range choice.Members() {
		switch string(k) {
		case `"delta"`:
			delta = m
		case `"message"`:
			message = m
		case `"finish_reason"`:
			reason = m
		case `"error"`:
			failure = m
		}
	}
	if failure.Kind() == jsonscan.Object {
		return reported(choice, data)
	}
	if err := p.message(delta, true); err != nil {
		return err
	}
	if err := p.message(message, false); err != nil {
		return err
	}
	p.finished(reason)
	return nil
}

// message handles a delta, or a whole message in its place.
func (p *Parser) message(m jsonscan.Value, delta bool) error {
	for k, v := range m.Members() {
		var err error
		switch string(k) {
		case `"content"`, `"refusal"`:
			p.content(v, delta)
		case `"reasoning_content"`:
			p.thought(v)
		case `"reasoning"`:
			if m.Get("reasoning_content").Kind() != jsonscan.String {
				p.thought(v)
			}
		case `"tool_calls"`:
			err = p.toolCalls(v, delta)
		case `"function_call"`:
			err = p.legacyCall(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// content is answer text. A whole message repeats what the deltas before it
// said, so it counts only where there were none.
func (p *Parser) content(v jsonscan.Value, delta bool) {
	switch v.Kind() {
	case jsonscan.String:
		if len(v) == 2 || !delta && p.streamed {
			return
		}
		p.streamed = p.streamed || delta
		p.text(v)
	case jsonscan.Array: // parts of a message: text, and the thinking of some servers
		for part := range v.Elements() {
			if part.Get("type").Is("thinking") {
				p.thinkingPart(part.Get("thinking"))
				continue
			}
			p.content(part.Get("text"), delta)
		}
	}
}

func (p *Parser) thinkingPart(v jsonscan.Value) {
	p.thought(v)
	for t := range v.Elements() {
		p.thought(t.Get("text"))
	}
}

func (p *Parser) text(v jsonscan.Value) {
	if p.filter.mode == thinkText {
		p.sink.Text(v)
		return
	}
	p.scratch = exchange.AppendText(p.scratch[:0], v)
	p.filter.write(p.sink, p.scratch, p.think)
}

// thought is private reasoning.
func (p *Parser) thought(v jsonscan.Value) {
	if v.Kind() == jsonscan.String && len(v) > 2 {
		p.scratch = exchange.AppendText(p.scratch[:0], v)
		p.think(p.scratch)
	}
}

func (p *Parser) think(text []byte) {
	p.sink.ReasoningBytes(text)
	if len(p.reasoning) < maxReasoningBytes {
		p.reasoning = append(p.reasoning, text...)
	}
}

// toolCalls takes entries of tool_calls. Those of a whole message repeat what
// the deltas before it said, like its text.
func (p *Parser) toolCalls(v jsonscan.Value, delta bool) error {
	if !delta && p.called {
		return nil
	}
	p.called = p.called || delta
	for entry := range v.Elements() {
		p.sink.ToolProgress()
		if err := p.calls.add(entry); err != nil {
			return err
		}
	}
	return nil
}

func (p *Parser) legacyCall(v jsonscan.Value) error {
	if v.Kind() != jsonscan.Object {
		return nil
	}
	p.sink.ToolProgress()
	return p.calls.legacy(v)
}

// finished handles a closing reason.
func (p *Parser) finished(reason jsonscan.Value) {
	if reason.Kind() != jsonscan.String || len(reason) == 2 {
		return
	}
	switch string(reason[1 : len(reason)-1]) {
	case "stop", "tool_calls", "function_call":
		p.reason = finishCalls
	case "length", "content_filter":
		if p.reason != finishCut {
			p.cut = string(reason[1 : len(reason)-1])
		}
		p.reason = finishCut
	default:
		p.reason = finishUnknown
		return
	}
	p.complete()
}

// done is the end of the stream. Without any closing reason it stands for one.
func (p *Parser) done() {
	if p.reason == finishNone {
		p.reason = finishCalls
	}
	p.complete()
	p.state = exchange.Final
}

// complete reports what waited for the end of the response.
func (p *Parser) complete() {
	p.state = max(p.state, exchange.Terminal)
	p.sink.Progress()
	p.filter.end(p.sink, p.think)
	if !p.recorded && len(p.reasoning) > 0 {
		p.recorded = true
		p.sink.Emit(provider.Event{Kind: provider.EventReasoningDone, Text: string(p.reasoning)})
	}
	if p.reason == finishCalls {
		p.calls.emit(p.sink)
	}
	if p.cut != "" {
		p.sink.Emit(provider.Event{Kind: provider.EventCut, Text: p.cut})
		p.cut = ""
	}
}

// Finish ends the stream.
func (p *Parser) Finish(complete bool) error {
	if complete {
		p.complete() // calls may have come behind the closing reason
		return nil
	}
	p.filter.end(p.sink, p.think)
	return nil
}

// reported is an error object in place of a chunk, or in one.
func reported(v jsonscan.Value, data []byte) error {
	cause := exchange.ErrorObject(v)
	if cause == nil {
		return nil
	}
	detail := exchange.ErrorDetail(cause)
	if exchange.IsTooLong(cause) {
		return exchange.TooLong(detail)
	}
	return exchange.Failed("provider reported an error in its stream", detail, data)
}
