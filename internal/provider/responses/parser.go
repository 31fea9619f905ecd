package responses

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/exchange"
)

// Parser reads one stream (providers.md 11.3). It is an exchange.Parser.
type Parser struct {
	sink  *exchange.Sink
	state exchange.State
	model string
	tier  string
	usage provider.Usage

	calls     calls
	text      texts
	reasoning summaries
}

// NewParser returns a parser that reports to sink.
func NewParser(sink *exchange.Sink) exchange.Parser {
	p := &Parser{sink: sink}
	p.calls.sink, p.text.sink, p.reasoning.sink = sink, sink, sink
	return p
}

// State tells how far the response has come.
func (p *Parser) State() exchange.State { return p.state }

// Model is the model that the stream named.
func (p *Parser) Model() string { return p.model }

// Tier is the service tier that the stream named.
func (p *Parser) Tier() string { return p.tier }

// event is what one event holds at its top level.
type event struct {
	typ, delta, itemID, id, index       jsonscan.Value
	item, response, arguments, text     jsonscan.Value
	tier, usage, err, object, callID, v jsonscan.Value
}

// note takes one member of the event.
func (e *event) note(k, m jsonscan.Value) {
	switch string(k) {
	case `"type"`:
		e.typ = m
	case `"delta"`:
		e.delta = m
	case `"item_id"`:
		e.itemID = m
	case `"id"`:
		e.id = m
	case `"call_id"`:
		e.callID = m
	case `"output_index"`:
		e.index = m
	case `"item"`:
		e.item = m
	case `"response"`:
		e.response = m
	case `"arguments"`:
		e.arguments = m
	case `"text"`:
		e.text = m
	case `"service_tier"`:
		e.tier = m
	case `"usage"`:
		e.usage = m
	case `"error"`:
		e.err = m
	case `"object"`:
		e.object = m
	}
}

// Event takes the data of one event.
func (p *Parser) Event(data []byte) error {
	if exchange.IsDone(data) {
		p.complete()
		return nil
	}
	var e event
	var err error
	if e.v, err = exchange.ReadMembers(data, e.note); err != nil {
		return err
	}
	if e.object.Is("response") && e.response == nil && e.typ == nil {
		e.response = e.v // one plain answer in place of a stream
		e.typ = jsonscan.Value(`"response.completed"`)
	}
	if err := p.common(&e, data); err != nil {
		return err
	}
	return p.dispatch(&e)
}

// common handles what any event may carry.
func (p *Parser) common(e *event, data []byte) error {
	p.noteTier(e.tier)
	if e.usage != nil {
		p.noteUsage(e.usage)
	}
	if r := e.response; r.Kind() == jsonscan.Object {
		if m := r.Get("model").LenientText(); m != "" {
			p.model = m
		}
		p.noteTier(r.Get("service_tier"))
		p.noteUsage(r.Get("usage"))
		if s := r.Get("status"); s.Is("failed") || s.Is("incomplete") {
			return failed(e, data)
		}
	}
	switch string(e.typ) {
	case `"response.failed"`, `"response.incomplete"`:
		return failed(e, data)
	case `"error"`:
		return reported(e.v, data)
	case "":
		if exchange.ErrorObject(e.v) != nil {
			return reported(e.v, data)
		}
	}
	return nil
}

func (p *Parser) dispatch(e *event) error {
	if e.typ.Kind() != jsonscan.String {
		return nil
	}
	switch string(e.typ[1 : len(e.typ)-1]) {
	case "response.output_text.delta", "response.refusal.delta":
		p.text.delta(e)
	case "response.reasoning_summary_text.delta":
		p.reasoning.delta(e)
	case "response.reasoning_summary_text.done":
		p.reasoning.partDone(e)
	case "response.reasoning_text.delta":
		if len(e.delta) > 2 {
			p.sink.Alive() // private; it only shows that the model works
		}
	case "response.output_item.added":
		return p.calls.added(e)
	case "response.function_call_arguments.delta":
		return p.calls.delta(e)
	case "response.function_call_arguments.done":
		return p.calls.argumentsDone(e)
	case "response.output_item.done":
		return p.itemDone(e.item, e.index, -1)
	case "response.completed":
		return p.completed(e.response)
	}
	return nil
}

// itemDone handles a finished item: of output_item.done, or the n-th one of its
// kind in the final response (n is -1 for the former).
func (p *Parser) itemDone(item, index jsonscan.Value, n int) error {
	switch typ := item.Get("type"); {
	case typ.Is("function_call"):
		return p.calls.item(item, index, n)
	case typ.Is("reasoning"):
		p.reasoning.item(item, n)
	case typ.Is("message"):
		p.text.item(item, n)
	}
	return nil
}

// completed is the terminal event.
func (p *Parser) completed(response jsonscan.Value) error {
	nth := make(map[string]int)
	for item := range response.Get("output").Elements() {
		kind := item.Get("type").LenientText()
		if err := p.itemDone(item, nil, nth[kind]); err != nil {
			return err
		}
		nth[kind]++
	}
	p.complete()
	return nil
}

func (p *Parser) complete() {
	p.state = exchange.Final
	p.sink.Progress()
	p.reasoning.rest()
}

// Finish ends the stream. A call that never became complete is an error if its
// arguments are broken, and dropped if not (providers.md 11.4).
func (p *Parser) Finish(complete bool) error {
	if !complete {
		return nil
	}
	return p.calls.unfinished()
}

func (p *Parser) noteUsage(v jsonscan.Value) {
	if MergeUsage(&p.usage, v) {
		p.sink.Usage(p.usage)
	}
}

func (p *Parser) noteTier(v jsonscan.Value) {
	if v.Kind() == jsonscan.String {
		if t := exchange.CleanTier(v.LenientText()); t != "" {
			p.tier = t
		}
	}
}

// failed is a response that the provider calls failed or incomplete.
func failed(e *event, data []byte) error {
	cause := e.response.Get("error")
	if cause.Kind() != jsonscan.Object {
		cause = e.err
	}
	detail := exchange.ErrorDetail(cause)
	if reason := e.response.Get("incomplete_details").Get("reason").LenientText(); reason != "" {
		detail = strings.TrimPrefix(detail+": "+reason, ": ")
	}
	if exchange.IsTooLong(cause) {
		return exchange.TooLong(detail)
	}
	return exchange.Failed("provider sent a failed or incomplete response", detail, data)
}

// reported is an error event, or an error object in place of one.
func reported(v jsonscan.Value, data []byte) error {
	cause := exchange.ErrorObject(v)
	if cause == nil {
		cause = v
	}
	detail := exchange.ErrorDetail(cause)
	if exchange.IsTooLong(cause) {
		return exchange.TooLong(detail)
	}
	return exchange.Failed("provider reported an error in its stream", detail, data)
}

// clone copies an item out of the read buffer, compact and sorted.
func clone(item jsonscan.Value) []byte { return body.AppendSorted(nil, item, nil) }
