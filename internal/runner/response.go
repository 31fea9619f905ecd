package runner

import (
	"context"
	"encoding/json"
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/session"
)

// response collects what one request streams. take is called by the provider
// from the goroutine that drives the run.
type response struct {
	run      *run
	ctx      context.Context
	sequence int

	calls         []provider.Call
	reasoningOnly bool
	reasonings    int
	sawText       bool
	usage         provider.Usage
	usageSeen     bool
	stop          error // why take ended the stream
	cut           cut
	short         string   // why a complete response is not whole: a word of provider; "" when it is
	summaries     []string // completed ones, for hooks
}

// take handles one event in order.
func (p *response) take(ev provider.Event) error {
	if p.stop = p.handle(ev); p.stop != nil {
		return p.stop
	}
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return nil
}

func (p *response) handle(ev provider.Event) error {
	r := p.run
	switch ev.Kind {
	case provider.EventText:
		p.sawText = p.sawText || !isBlank(ev.Text)
		return r.text.write(ev.Text)
	case provider.EventSummaryDelta, provider.EventRawReasoning:
		p.cut.reason(ev.Text)
	case provider.EventToolProgress:
		p.cut.tool = true
	case provider.EventTrace:
		p.cut.trace(ev.Raw)
	case provider.EventReasoningDone:
		p.reasoning(ev)
	case provider.EventItem:
		p.item(ev.Raw)
	case provider.EventCall:
		p.calls = append(p.calls, *ev.Call)
	case provider.EventUsage:
		p.usage, p.usageSeen = *ev.Usage, true
	case provider.EventIdentity:
		if ev.Identity.Provider != "" {
			r.rec.later(identityEvent(p.sequence, ev.Identity))
		}
	case provider.EventCut:
		p.short = ev.Text
	case provider.EventNotice:
		return p.providerNotice(ev)
	}
	return nil
}

// reasoning records a completed summary, or private reasoning that stays in the file.
func (p *response) reasoning(ev provider.Event) {
	p.run.text.boundary()
	p.reasonings++
	p.cut.reasoned = true
	if ev.ProviderSummary {
		p.summaries = append(p.summaries, ev.Text)
	}
	id := ev.ItemID
	if id == "" {
		id = "legacy-" + strconv.Itoa(p.sequence) + "-" + strconv.Itoa(p.reasonings)
	}
	p.run.rec.later(session.Event{Kind: session.KindReasoningSummary, Payload: map[string]any{
		"text": redact.Strip(ev.Text), "provider_summary": ev.ProviderSummary, "item_id": id, "turn_id": strconv.Itoa(p.sequence)}})
}

// item keeps a provider's own item for the next requests of this turn. Calls
// are kept in the runner's own form, because their ids may change (decision 9).
func (p *response) item(raw json.RawMessage) {
	v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil || v.Get("type").Is("function_call") || v.Get("tool_calls").Kind() == jsonscan.Array || v.Get("type").Is("message") {
		return
	}
	r := p.run
	p.flushText()
	r.turn = append(r.turn, lasting(provider.Item{Kind: provider.ItemResponse, Raw: raw}))
	r.text.boundary()
	r.rec.later(session.Event{Kind: session.KindProviderResponseItem, Payload: map[string]any{"item": raw}})
}

// flushText is for items that arrive between text: the text before them stands
// before them in the next request too.
func (p *response) flushText() {
	if text := p.run.text.takeRaw(); !isBlank(text) {
		p.run.turn = append(p.run.turn, message("assistant", text))
	}
}

// providerNotice tells what the provider noticed about its own response. A
// recovery is worth a record; that a gateway names its model differently is in
// the stream trace already and would stand in the history of every turn.
func (p *response) providerNotice(ev provider.Event) error {
	if !ev.Warning {
		p.run.rec.later(session.Event{Kind: session.KindDiagnostic, Payload: map[string]any{
			"category": "provider_response_identity", "level": "info", "message": ev.Text}})
	}
	return p.run.Sink.Emit(p.ctx, Notice{Summary: ev.Text})
}

// finish records the usage and settles what kind of response it was.
func (p *response) finish(complete bool) {
	p.reasoningOnly = complete && !p.sawText && len(p.calls) == 0 && p.reasonings > 0
	if p.usageSeen {
		final := complete && p.usage.Output != nil
		p.run.rec.later(usageEvent(usageID(p.run.RunID, "primary", p.sequence), p.sequence, p.usage, final))
		p.run.usage = p.usage
		p.run.spent.add(p.usage)
	}
}

func identityEvent(sequence int, id *provider.Identity) session.Event {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return session.Event{Kind: session.KindProviderStreamTrace, Payload: map[string]any{
		"request_sequence": sequence,
		"response_identity": map[string]any{
			"schema_version": 1, "provider": id.Provider, "attempt": id.Attempt, "requested_model": id.RequestedModel,
			"provider_response_model": orNull(id.ResponseModel), "request_id": orNull(id.RequestID), "outcome": id.Outcome,
		}}}
}
