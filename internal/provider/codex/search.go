package codex

import (
	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
)

// Bounds of a web search (providers.md 12.5).
const (
	maxSearchBytes = 2 << 20
	maxSources     = 100
)

// searchParser reads the stream of a web search. Nothing of it is told before it
// is complete, so that a stream that breaks may be tried again.
type searchParser struct {
	sink  *exchange.Sink
	state exchange.State
	bytes int
	model string

	deltas      []byte
	done, final answer // of finished items; of the final response
}

// answer is the text of messages, and the pages that it rests on.
type answer struct {
	text    []byte
	sources []provider.Event
	known   map[string]bool
}

func newSearchParser(sink *exchange.Sink) exchange.Parser { return &searchParser{sink: sink} }

func (p *searchParser) State() exchange.State { return p.state }
func (p *searchParser) Model() string         { return p.model }
func (p *searchParser) Tier() string          { return "" }

// Event takes the data of one event.
func (p *searchParser) Event(data []byte) error {
	if p.bytes += len(data); p.bytes > maxSearchBytes {
		return exchange.Overflow("web search answer")
	}
	if exchange.IsDone(data) {
		return nil
	}
	v, err := exchange.ParseData(data)
	if err != nil {
		return err
	}
	p.sink.Alive()
	response := v.Get("response")
	if m := response.Get("model").LenientText(); m != "" {
		p.model = m
	}
	switch v.Get("type").LenientText() {
	case "response.output_text.delta":
		p.deltas = exchange.AppendText(p.deltas, orText(v.Get("delta")))
	case "response.output_item.done":
		p.done.add(v.Get("item"))
	case "response.completed":
		for item := range response.Get("output").Elements() {
			p.final.add(item)
		}
		p.state = exchange.Final
	case "response.failed", "response.incomplete":
		return exchange.Failed("the web search did not finish", exchange.ErrorDetail(response.Get("error")), data)
	case "error":
		cause := exchange.ErrorObject(v)
		if cause == nil {
			cause = v
		}
		return exchange.Failed("the web search failed", exchange.ErrorDetail(cause), data)
	}
	return nil
}

func orText(v jsonscan.Value) jsonscan.Value {
	if v.Kind() != jsonscan.String {
		return jsonscan.Value(`""`)
	}
	return v
}

// add takes a message's text and the addresses that it cites, each once.
func (a *answer) add(item jsonscan.Value) {
	if !item.Get("type").Is("message") {
		return
	}
	for part := range item.Get("content").Elements() {
		if !part.Get("type").Is("output_text") {
			continue
		}
		a.text = exchange.AppendText(a.text, orText(part.Get("text")))
		for note := range part.Get("annotations").Elements() {
			url := note.Get("url").LenientText()
			if !note.Get("type").Is("url_citation") || url == "" || a.known[url] || len(a.sources) == maxSources {
				continue
			}
			if a.known == nil {
				a.known = make(map[string]bool)
			}
			a.known[url] = true
			a.sources = append(a.sources, provider.Event{Kind: provider.EventSource, ItemID: url, Text: note.Get("title").LenientText()})
		}
	}
}

// Finish tells the answer: that of the final response, else of the items, else
// of the deltas.
func (p *searchParser) Finish(complete bool) error {
	if !complete {
		return nil
	}
	best := p.final
	if len(best.text) == 0 {
		best.text = p.done.text
	}
	if len(best.sources) == 0 {
		best.sources = p.done.sources
	}
	if len(best.text) == 0 {
		best.text = p.deltas
	}
	p.sink.TextBytes(best.text)
	for _, s := range best.sources {
		p.sink.Emit(s)
	}
	return nil
}
