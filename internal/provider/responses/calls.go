package responses

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/transcript"
)

// maxArgumentBytes bounds the arguments of one call: providers.md 10.
const maxArgumentBytes = 1 << 20

// calls puts the calls of one stream together (providers.md 11.4). Each is
// emitted once, when its id, its name and a completing event are there.
type calls struct {
	sink  *exchange.Sink
	byKey map[string]*pending
	order []*pending
	done  []*pending // in the order their items were kept
}

type pending struct {
	key, id, name string
	index         int64 // output_index, -1 without
	args          []byte
	emitted       bool // as a call
	kept          bool // as an item
}

// find returns the call that a fragment belongs to, or a new one. A fragment
// under an unknown key belongs to the call that has the key as its call id, or
// that of its output index.
func (c *calls) find(key string, index jsonscan.Value) *pending {
	if p, ok := c.byKey[key]; ok {
		return p
	}
	n, ok := index.Int64()
	if !ok {
		n = -1
	}
	for _, p := range c.order {
		if key != "" && p.id == key || n >= 0 && p.index == n && !p.kept {
			return p
		}
	}
	if c.byKey == nil {
		c.byKey = make(map[string]*pending)
	}
	p := &pending{key: key, index: n}
	c.byKey[key] = p
	c.order = append(c.order, p)
	return p
}

// findItem finds the call of a finished item, the n-th call of the final
// response or n = -1. Some servers change an item's id on the way; then the call
// id tells, but only of a call that still waits for its item, or that stands at
// the same place: ids may be used twice in one response (decision 9).
func (c *calls) findItem(item, index jsonscan.Value, n int) *pending {
	id, callID := item.Get("id").LenientText(), item.Get("call_id").LenientText()
	if p, ok := c.byKey[id]; ok && id != "" {
		return p
	}
	if n >= 0 && n < len(c.done) && c.done[n].id == callID {
		return c.done[n]
	}
	for _, p := range c.order {
		if callID != "" && p.id == callID && !p.kept {
			return p
		}
	}
	return c.find(itemKey(id, callID), index)
}

// itemKey names the call of an item: its id, else its call id.
func itemKey(id, callID string) string {
	if id == "" {
		return callID
	}
	return id
}

func (c *calls) added(e *event) error {
	if !e.item.Get("type").Is("function_call") {
		return nil
	}
	c.sink.ToolProgress()
	p := c.find(itemKey(e.item.Get("id").LenientText(), e.item.Get("call_id").LenientText()), nil)
	if n, ok := e.index.Int64(); ok {
		p.index = n
	}
	if err := p.identify(e.item); err != nil {
		return err
	}
	return p.append(e.item.Get("arguments"))
}

func (c *calls) delta(e *event) error {
	if len(e.delta) > 2 {
		c.sink.ToolProgress()
	}
	return c.find(fragmentKey(e), e.index).append(e.delta)
}

func (c *calls) argumentsDone(e *event) error {
	c.sink.ToolProgress()
	p := c.find(fragmentKey(e), e.index)
	if err := p.set(e.arguments); err != nil {
		return err
	}
	if p.callID() != "" {
		c.emit(p)
	}
	return nil
}

// fragmentKey names the call of a fragment: item_id, else id, else call_id.
func fragmentKey(e *event) string {
	for _, v := range []jsonscan.Value{e.itemID, e.id, e.callID} {
		if key := v.LenientText(); key != "" {
			return key
		}
	}
	return ""
}

// item handles a finished item. It completes the call even without an id: the
// runner gives it one (decision 9).
func (c *calls) item(item, index jsonscan.Value, n int) error {
	p := c.findItem(item, index, n)
	if err := p.identify(item); err != nil {
		return err
	}
	if err := p.set(item.Get("arguments")); err != nil {
		return err
	}
	if !p.kept && p.name != "" {
		p.kept = true
		c.done = append(c.done, p)
		c.sink.Emit(provider.Event{Kind: provider.EventItem, ItemID: item.Get("id").LenientText(), Raw: p.raw(item)})
	}
	c.emit(p)
	return nil
}

func (c *calls) emit(p *pending) {
	if p.emitted || p.name == "" {
		return
	}
	p.emitted = true
	args, _ := transcript.Arguments(string(p.args))
	c.sink.Emit(provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: p.callID(), Name: p.name, Arguments: args, ItemID: p.key}})
}

// unfinished reports a call that was begun, never completed, and is broken.
func (c *calls) unfinished() error {
	for _, p := range c.order {
		if p.emitted {
			continue
		}
		if _, ok := transcript.Arguments(string(p.args)); !ok {
			return exchange.Plain("provider ended its response inside the arguments of a tool call")
		}
	}
	return nil
}

// callID is the id of a call; a key that looks like one serves.
func (p *pending) callID() string {
	if p.id == "" && strings.HasPrefix(p.key, "call_") {
		return p.key
	}
	return p.id
}

// identify takes id and name from an item; they may not change.
func (p *pending) identify(item jsonscan.Value) error {
	id, name := item.Get("call_id").LenientText(), item.Get("name").LenientText()
	if id != "" && p.id != "" && id != p.id {
		return exchange.Plain("provider sent two ids for one tool call")
	}
	if name != "" && p.name != "" && name != p.name {
		return exchange.Plain("provider sent two names for one tool call")
	}
	if id != "" {
		p.id = id
	}
	if name != "" {
		p.name = name
	}
	return nil
}

func (p *pending) append(v jsonscan.Value) error {
	if p.emitted {
		return nil
	}
	if v.Kind() == jsonscan.Object {
		return p.set(v)
	}
	p.args = exchange.AppendText(p.args, v)
	return p.bounded()
}

// set replaces the arguments, unless the provider left them out.
func (p *pending) set(v jsonscan.Value) error {
	if p.emitted {
		return nil
	}
	switch v.Kind() {
	case jsonscan.String:
		if strings.TrimSpace(v.LenientText()) != "" {
			p.args = exchange.AppendText(p.args[:0], v)
		}
	case jsonscan.Object:
		p.args = append(p.args[:0], v...)
	}
	return p.bounded()
}

func (p *pending) bounded() error {
	if len(p.args) > maxArgumentBytes {
		return exchange.Overflow("arguments of a tool call")
	}
	return nil
}

// raw is the item to keep: the provider's own, if it holds the arguments that
// the call is emitted with.
func (p *pending) raw(item jsonscan.Value) []byte {
	args, _ := transcript.Arguments(string(p.args))
	if item.Get("arguments").Is(args) {
		return clone(item)
	}
	out := jsonscan.AppendString([]byte(`{"arguments":`), args)
	out = jsonscan.AppendString(append(out, `,"call_id":`...), p.callID())
	out = jsonscan.AppendString(append(out, `,"name":`...), p.name)
	return append(out, `,"status":"completed","type":"function_call"}`...)
}
