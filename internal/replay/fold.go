package replay

import (
	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/session"
)

// maxInterruptedChars drops an interrupted turn whole when its visible text is
// longer (runner.md 25).
const maxInterruptedChars = 128_000

// entry is one item and the position of the record it came from.
type entry struct {
	item provider.Item
	at   int
}

// Fold builds the conversation of one session. The zero value is ready.
type Fold struct {
	done []entry // items of closed turns
	turn turn
	ids  map[string]struct{} // every call id seen, under the name it is sent with
	open map[string]string   // call id in the file -> id it is sent with, while it has no result

	compactions int
}

// Apply takes one record. It never fails: what it cannot read it leaves out.
func (f *Fold) Apply(rec session.Record) error {
	p := jsonscan.Value(rec.Payload)
	switch rec.Kind {
	case session.KindUserInput:
		f.userInput(rec.Index, p)
	case session.KindAssistantChunk:
		f.turn.text.WriteString(p.Get("text").LenientText())
		f.turn.active = true
	case session.KindAssistantOutput:
		f.assistantOutput(rec.Index, p)
	case session.KindProviderResponseItem:
		f.responseItem(rec.Index, p.Get("item"))
	case session.KindToolCall:
		f.flushText(rec.Index)
		f.call(rec.Index, p.Get("id").LenientText(), p.Get("name").LenientText(), argumentText(p.Get("arguments")))
	case session.KindToolResult:
		f.flushText(rec.Index)
		f.result(rec.Index, p)
	case session.KindProviderContextItem:
		if p.Get("role").Is("user") {
			f.userMessage(rec.Index, p.Get("content").LenientText())
		}
	case session.KindSkillSuggestion:
		f.userMessage(rec.Index, p.Get("hint").LenientText())
	case session.KindTurnStatus:
		f.flushText(rec.Index)
		f.turn.status(p)
	case session.KindAbortRecovery:
		f.turn.abort = true
		if on, _ := p.Get("unsafe_tool_call_progress").Bool(); on {
			f.turn.unsafeProgress = true
		}
	case session.KindDiagnostic:
		// A message ends the text before it, as it does in history: what a
		// continuation says later does not replace the part that broke off.
		if p.Get("message").Kind() == jsonscan.String {
			f.flushText(rec.Index)
		}
	case session.KindCompaction:
		f.compaction(rec.Index, p)
	}
	return nil
}

// Items returns the conversation as it would be replayed if the file ended
// here. The slice is the caller's; the items share their text with the fold.
func (f *Fold) Items() []provider.Item {
	open := f.closed()
	out := make([]provider.Item, 0, len(f.done)+len(open))
	for _, e := range f.done {
		out = append(out, e.item)
	}
	for _, e := range open {
		out = append(out, e.item)
	}
	return out
}

// Earlier returns the items of the turns before the open one.
func (f *Fold) Earlier() []provider.Item {
	out := make([]provider.Item, 0, len(f.done))
	for _, e := range f.done {
		out = append(out, e.item)
	}
	return out
}

// HasCallID reports whether a call of this session is sent under id.
func (f *Fold) HasCallID(id string) bool {
	_, ok := f.ids[id]
	return ok
}

func (f *Fold) userInput(at int, p jsonscan.Value) {
	text := p.Get("text").LenientText()
	if auto, _ := p.Get("auto_recovery").Bool(); auto && f.turn.active && !f.turn.ended() {
		f.flushText(at)
		f.userMessage(at, text)
		return
	}
	f.endTurn(at)
	f.userMessage(at, text)
}

func (f *Fold) userMessage(at int, text string) {
	if text == "" {
		return
	}
	f.flushText(at)
	f.turn.add(at, provider.Item{Kind: provider.ItemMessage, Role: "user", Text: text})
}

// assistantOutput replaces the text of the open segment: chunks since the last
// boundary are a prefix of it, or an older form of it.
func (f *Fold) assistantOutput(at int, p jsonscan.Value) {
	if text, ok := p.Get("text").Text(); ok {
		f.turn.text.Reset()
		f.turn.text.WriteString(text)
	}
	f.flushText(at)
	f.turn.active = true
	f.turn.committed = true
}

// flushText turns collected chunks into one assistant message.
func (f *Fold) flushText(at int) {
	text := f.turn.text.String()
	f.turn.text.Reset()
	if isBlank(text) {
		return
	}
	f.turn.add(at, provider.Item{Kind: provider.ItemMessage, Role: "assistant", Text: text})
}

func (f *Fold) responseItem(at int, item jsonscan.Value) {
	f.flushText(at)
	f.turn.active = true
	typ := item.Get("type")
	switch {
	case typ.Is("function_call"):
		f.call(at, item.Get("call_id").LenientText(), item.Get("name").LenientText(), item.Get("arguments").LenientText())
	case item.Get("tool_calls").Kind() == jsonscan.Array:
		for c := range item.Get("tool_calls").Elements() {
			fn := c.Get("function")
			f.call(at, c.Get("id").LenientText(), fn.Get("name").LenientText(), fn.Get("arguments").LenientText())
		}
	case typ.Is("message"), typ.Is("output_text"), typ.Is("assistant_message"):
		// Its text is in the chunks; only its completion counts.
		f.turn.committed = f.turn.committed || item.Get("status").Is("completed")
	case typ.Is("reasoning"), typ.Is("thinking"), typ.Is("redacted_thinking"):
		// Without its encrypted part, which is never stored, it says nothing to the model.
	default:
		f.turn.add(at, provider.Item{Kind: provider.ItemResponse, Raw: append([]byte(nil), item...)})
	}
}

// call registers a call once, whether a response item or a tool_call told of
// it first, and gives a repeated id a name of its own (decision 9).
func (f *Fold) call(at int, id, name, arguments string) {
	f.turn.active = true
	if _, known := f.open[id]; known {
		return
	}
	sent := f.uniqueID(id)
	if f.open == nil {
		f.open = make(map[string]string)
	}
	f.open[id] = sent
	f.turn.add(at, provider.Item{Kind: provider.ItemCall, CallID: sent, Name: name, Arguments: arguments})
}

func (f *Fold) result(at int, p jsonscan.Value) {
	id := p.Get("call_id").LenientText()
	res := p.Get("result")
	name := res.Get("tool_name").LenientText()
	text := projectResult(res)
	sent, ok := f.open[id]
	if !ok {
		f.turn.add(at, provider.Item{Kind: provider.ItemNote, Text: orphanNote(name, text)})
		return
	}
	delete(f.open, id)
	success, _ := res.Get("success").Bool()
	f.turn.add(at, provider.Item{Kind: provider.ItemResult, CallID: sent, Name: name, Success: success, Text: text})
}

// compaction starts afresh from a valid checkpoint (storage.md 6.4).
func (f *Fold) compaction(at int, p jsonscan.Value) {
	version, _ := p.Get("schema_version").Uint64()
	cutoff, ok := p.Get("cutoff_event_count").Uint64()
	summary := p.Get("summary").LenientText()
	if version != 1 || !ok || cutoff > uint64(at) || isBlank(summary) ||
		isBlank(p.Get("provider").LenientText()) || isBlank(p.Get("model").LenientText()) {
		return
	}
	f.endTurn(at)
	kept := []entry{{item: checkpointMessage(summary), at: at}}
	if note := evidenceNote(p.Get("execution_effects")); note != "" {
		kept = append(kept, entry{item: provider.Item{Kind: provider.ItemMessage, Role: "user", Text: note}, at: at})
	}
	for _, e := range f.done {
		if uint64(e.at) >= cutoff && cutoff > 0 {
			kept = append(kept, e)
		}
	}
	f.done = kept
	f.compactions++
}

// endTurn moves what survives of the open turn into the closed ones.
func (f *Fold) endTurn(at int) {
	f.flushText(at)
	f.done = append(f.done, f.closed()...)
	f.turn = turn{}
	clear(f.open)
}
