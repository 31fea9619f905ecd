package chat

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/transcript"
)

const (
	maxArgumentBytes = 1 << 20 // of one call: providers.md 10
	maxCalls         = 4096    // of one answer: a run's identities end there (extensions.md 13.10 counts them), and the search for a call is linear
	legacyCallID     = "call_legacy_function_call"
	noIndex          = -1
)

// calls puts the calls of one stream together. Their ids pass through as
// they came: the runner makes them unique (decision 9).
type calls struct {
	pending []*call
	last    *call
}

type call struct {
	index    int64 // noIndex without one
	id, name string
	args     []byte
	emitted  bool
}

// add takes one entry of tool_calls. An entry belongs to the open call of its
// index, or without an index to that of its id, or to the last one, unless it
// plainly begins another call: servers share indexes, leave them out, or leave
// ids out.
func (c *calls) add(entry jsonscan.Value) error {
	fn := entry.Get("function")
	id, name := entry.Get("id").LenientText(), fn.Get("name").LenientText()
	args := fn.Get("arguments")
	index, ok := entry.Get("index").Int64()
	if !ok {
		index = noIndex
	}
	open := c.find(index, id)
	switch {
	case open != nil && open.repeats(id, name, args):
		return nil
	case open == nil, open.ended(index, id, name, args):
		if len(c.pending) == maxCalls {
			return exchange.Overflow("number of tool calls")
		}
		open = &call{index: index}
		c.pending = append(c.pending, open)
	}
	c.last = open
	return open.merge(id, name, args)
}

// find returns the call that an entry may belong to: the newest of its index,
// else of its id, else the last one.
func (c *calls) find(index int64, id string) *call {
	for i := len(c.pending) - 1; i >= 0; i-- {
		p := c.pending[i]
		switch {
		case index != noIndex:
			if p.index == index {
				return p
			}
		case id != "":
			if p.id == id {
				return p
			}
		}
	}
	if index != noIndex || id != "" {
		return nil
	}
	return c.last
}

// repeats reports an entry that says again what is already known whole.
func (c *call) repeats(id, name string, args jsonscan.Value) bool {
	return id != "" && id == c.id && name == c.name && len(args) > 2 && len(c.args) > 0 && string(c.args) == argumentText(args) && c.whole()
}

// ended reports that an entry begins a new call although it shares the index
// (or the lack of one) with c.
func (c *call) ended(index int64, id, name string, args jsonscan.Value) bool {
	if id != "" && c.id != "" && id != c.id {
		return true
	}
	if name == "" || c.name == "" {
		return false
	}
	if name != c.name {
		return index == noIndex || c.whole()
	}
	return len(args) > 2 && c.whole()
}

// whole reports whether the arguments so far are one JSON value.
func (c *call) whole() bool {
	if len(c.args) == 0 {
		return false
	}
	_, ok := transcript.Arguments(string(c.args))
	return ok
}

func (c *call) merge(id, name string, args jsonscan.Value) error {
	if c.name != "" && name != "" && name != c.name {
		return exchange.Plain("provider sent two names for one tool call")
	}
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	switch args.Kind() {
	case jsonscan.String:
		c.args = exchange.AppendText(c.args, args)
	case jsonscan.Object:
		c.args = append(c.args, args...) // some servers do not encode it as a string
	}
	if len(c.args) > maxArgumentBytes {
		return exchange.Overflow("arguments of a tool call")
	}
	return nil
}

// legacy takes the single call of the retired function_call field.
func (c *calls) legacy(fn jsonscan.Value) error {
	open := c.find(noIndex, legacyCallID)
	if open == nil {
		open = &call{index: noIndex, id: legacyCallID}
		c.pending = append(c.pending, open)
	}
	name, args := fn.Get("name").LenientText(), fn.Get("arguments")
	if open.repeats(legacyCallID, name, args) {
		return nil
	}
	return open.merge("", name, args)
}

// emit reports all calls together as one item, and then one by one, in the
// order of their indexes. Calls without a name are no calls.
func (c *calls) emit(sink *exchange.Sink) {
	calls := make([]*provider.Call, 0, len(c.pending))
	for _, p := range c.sorted() {
		if p.name == "" || p.emitted {
			continue
		}
		p.emitted = true
		args, _ := transcript.Arguments(string(p.args))
		calls = append(calls, &provider.Call{ID: p.id, Name: p.name, Arguments: args})
	}
	if len(calls) == 0 {
		return
	}
	sink.Emit(provider.Event{Kind: provider.EventItem, Raw: rawItem(calls)})
	for _, call := range calls {
		sink.Emit(provider.Event{Kind: provider.EventCall, Call: call})
	}
}

// sorted orders calls by index; those without, or with a shared one, keep their
// order of arrival behind the ones before them.
func (c *calls) sorted() []*call {
	out := c.pending
	for i := 1; i < len(out); i++ {
		for k := i; k > 0 && out[k].index != noIndex && out[k].index < out[k-1].index; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// rawItem is the assistant message that holds the calls.
func rawItem(calls []*provider.Call) []byte {
	out := []byte(`{"content":null,"role":"assistant","tool_calls":[`)
	for i, c := range calls {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonscan.AppendString(append(out, `{"function":{"arguments":`...), c.Arguments)
		out = jsonscan.AppendString(append(out, `,"name":`...), c.Name)
		out = jsonscan.AppendString(append(out, `},"id":`...), c.ID)
		out = append(out, `,"type":"function"}`...)
	}
	return append(out, "]}"...)
}

func argumentText(v jsonscan.Value) string {
	if v.Kind() == jsonscan.String {
		return v.LenientText()
	}
	return strings.TrimSpace(string(v))
}
