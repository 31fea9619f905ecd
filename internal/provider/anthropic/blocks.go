package anthropic

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/transcript"
)

// maxArgumentBytes bounds the arguments of one call, and one thinking block:
// providers.md 10.
const maxArgumentBytes = 1 << 20

// block is one content block that has begun: a call or thinking. Text blocks
// need no state.
type block struct {
	kind      string // tool_use, thinking or redacted_thinking
	id, name  string
	data      []byte // partial JSON, thinking text or redacted data
	signature []byte // a JSON string
	input     []byte // input that came whole with the start
}

func (p *Parser) start(e *event) error {
	typ := e.block.Get("type")
	index, ok := e.index.Int64()
	switch {
	case typ.Is("text"):
		p.sink.Text(e.block.Get("text"))
	case typ.Is("tool_use"):
		id, name := e.block.Get("id").LenientText(), e.block.Get("name").LenientText()
		if !ok || id == "" || name == "" {
			return exchange.Plain("provider began a tool call without its index, id or name")
		}
		p.sink.ToolProgress()
		b := &block{kind: "tool_use", id: id, name: name}
		if in := e.block.Get("input"); in.Kind() == jsonscan.Object {
			b.input = body.AppendSorted(nil, in, nil)
		}
		p.open[index] = b
	case typ.Is("thinking"):
		p.sink.Alive()
		b := &block{kind: "thinking"}
		p.open[index] = b
		p.sink.Reasoning(e.block.Get("thinking"))
		b.data = exchange.AppendText(b.data, e.block.Get("thinking"))
		b.sign(e.block.Get("signature"))
	case typ.Is("redacted_thinking"):
		p.sink.Progress()
		p.open[index] = &block{kind: "redacted_thinking", data: exchange.AppendText(nil, e.block.Get("data"))}
	}
	return nil
}

func (p *Parser) delta(e *event) error {
	if string(e.kind) == `"text_delta"` {
		p.sink.Text(e.text)
		return nil
	}
	index, _ := e.index.Int64()
	b := p.open[index]
	if b == nil {
		return nil
	}
	switch string(e.kind) {
	case `"input_json_delta"`:
		if len(e.partial) > 2 {
			p.sink.ToolProgress()
		}
		b.data = exchange.AppendText(b.data, e.partial)
	case `"thinking_delta"`:
		p.sink.Reasoning(e.thinking)
		b.data = exchange.AppendText(b.data, e.thinking)
	case `"signature_delta"`:
		b.sign(e.signature)
	case `"redacted_thinking_delta"`:
		p.sink.Progress()
		b.data = exchange.AppendText(b.data, e.data)
	}
	if len(b.data) > maxArgumentBytes {
		return exchange.Overflow("one content block")
	}
	return nil
}

func (b *block) sign(v jsonscan.Value) {
	if v.Kind() == jsonscan.String && len(v) > 2 {
		b.signature = append(b.signature[:0], v...)
	}
}

// stop completes a block.
func (p *Parser) stop(e *event) {
	index, _ := e.index.Int64()
	b := p.open[index]
	if b == nil {
		return
	}
	delete(p.open, index)
	if b.kind != "tool_use" {
		p.sink.Emit(provider.Event{Kind: provider.EventItem, Raw: b.item()})
		return
	}
	call := &provider.Call{ID: b.id, Name: b.name, Arguments: b.arguments(), ItemID: b.id}
	p.sink.Emit(provider.Event{Kind: provider.EventItem, ItemID: b.id, Raw: CallItem(call)})
	p.sink.Emit(provider.Event{Kind: provider.EventCall, Call: call})
}

// arguments is one JSON value, or what arrived in its place (decision 8). There
// is none of the leniency of the other APIs.
func (b *block) arguments() string {
	text := strings.TrimSpace(string(b.data))
	if text != "" {
		return transcript.WholePairs(text)
	}
	if len(b.input) > 0 {
		return string(b.input)
	}
	return "{}"
}

// item is the thinking to replay.
func (b *block) item() []byte {
	if b.kind == "redacted_thinking" {
		out := jsonscan.AppendString([]byte(`{"data":`), string(b.data))
		return append(out, `,"type":"redacted_thinking"}`...)
	}
	signature := jsonscan.Value(b.signature)
	if signature == nil {
		signature = jsonscan.Value(`""`)
	}
	out := body.AppendText([]byte(`{"signature":`), signature)
	out = jsonscan.AppendString(append(out, `,"thinking":`...), string(b.data))
	return append(out, `,"type":"thinking"}`...)
}

// CallItem is the item that a call leaves for replay.
func CallItem(c *provider.Call) []byte {
	out := jsonscan.AppendString([]byte(`{"arguments":`), c.Arguments)
	out = jsonscan.AppendString(append(out, `,"call_id":`...), c.ID)
	out = jsonscan.AppendString(append(out, `,"name":`...), c.Name)
	return append(out, `,"status":"completed","type":"function_call"}`...)
}
