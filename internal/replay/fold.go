package replay

import (
	"fmt"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/protect/injection"
	"magicode/internal/provider"
	"magicode/internal/session"
)

// localOnly are kinds that never reach a model (storage.md 6.3).
var localOnly = map[session.Kind]bool{
	session.KindToolDisplayResult: true, session.KindCodeModeAssessment: true, session.KindSubdirInstruction: true,
	session.KindHookLifecycle: true, session.KindHookContextInjection: true, session.KindHookDiagnostic: true,
	session.KindProviderStreamTrace: true, session.KindSessionTitle: true, session.KindSessionUsage: true,
	session.KindSubagentSession: true, session.KindTaskScope: true, session.KindSessionPreferences: true,
	session.KindSessionActiveTime: true, session.KindToolAppliedPreview: true, "context_cache": true, "ttsr_injection": true,
}

// maxInterruptedChars drops an interrupted turn whole when its visible text is
// longer (runner.md 25).
const maxInterruptedChars = 128_000

// entry is one item and the position of the record it came from.
type entry struct {
	item     provider.Item
	at       int
	children []string // tasks whose logs a recovery note still waits for
}

// Fold builds the conversation of one session. The zero value is ready.
type Fold struct {
	// Children reads the end of a task's log, by a valid session id; none if there
	// is none. It is called when a conversation is asked for that holds a turn
	// which was stopped over its tasks. nil: no log is read.
	Children func(id string) []session.Record

	told    told
	summary []entry // of the latest checkpoint
	done    []entry // items of closed turns
	turn    turn
	ids     map[string]int    // every call id seen, under the name it is sent with; the number that a repetition gets
	open    map[string]string // call id in the file -> id it is sent with, while it has no result
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
	case session.KindReasoningSummary:
		f.turn.active = true
	case session.KindToolCall:
		f.flushText(rec.Index)
		f.call(rec.Index, p.Get("id").LenientText(), p.Get("name").LenientText(), argumentText(p.Get("arguments")))
	case session.KindToolResult:
		f.flushText(rec.Index)
		f.result(rec.Index, p)
	case session.KindToolResultAssessment:
		f.turn.assess(rec.Index, p)
	case session.KindCodeModeToolCall, session.KindCodeModeToolResult, session.KindCodeModeContext, session.KindCodeModeWarning:
		f.turn.scripts.take(rec.Kind, p)
	case session.KindCompaction:
		f.compaction(rec.Index, p)
	default:
		f.other(rec, p)
	}
	return nil
}

// other takes the kinds that are rarer, or only count.
func (f *Fold) other(rec session.Record, p jsonscan.Value) {
	switch rec.Kind {
	case session.KindProviderContextItem:
		f.turn.scripts.delivered(p)
		if p.Get("role").Is("user") {
			f.userMessage(rec.Index, p.Get("content").LenientText())
		}
	case session.KindSubagentSession:
		f.turn.link(rec.Index, p)
	case session.KindSkillSuggestion:
		f.userMessage(rec.Index, p.Get("hint").LenientText())
	case session.KindRewind:
		f.userMessage(rec.Index, rewindNote(p))
	case session.KindTurnStatus:
		f.flushText(rec.Index)
		f.turn.status(rec.Index, p)
	case session.KindAbortRecovery:
		f.turn.aborted(p)
	case session.KindDiagnostic:
		// A message ends the text before it, as it does in history: what a
		// continuation says later does not replace the part that broke off.
		if p.Get("message").Kind() == jsonscan.String {
			f.flushText(rec.Index)
		}
		if f.turn.failure == "" {
			f.turn.failure = failureCategory(rec.Payload)
		}
	default:
		if !localOnly[rec.Kind] {
			f.unknown(rec.Index, rec.Kind, p)
		}
	}
}

// Items returns the conversation as it would be replayed if the file ended
// here. The slice is the caller's; the items share their text with the fold.
func (f *Fold) Items() []provider.Item {
	open, left := f.closed(), maxChildReads
	f.completeOpen(open, &left)
	f.complete(f.done, &left)
	return items(f.summary, f.done, open)
}

// Earlier returns the items of the turns before the open one.
func (f *Fold) Earlier() []provider.Item {
	left := maxChildReads
	f.complete(f.done, &left)
	return items(f.summary, f.done)
}

func items(parts ...[]entry) []provider.Item {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	out := make([]provider.Item, 0, n)
	for _, p := range parts {
		for _, e := range p {
			if e.item.Kind == provider.ItemMessage && e.item.Text == "" {
				continue // a note on tasks whose logs are gone
			}
			out = append(out, e.item)
		}
	}
	return out
}

// HasCallID reports whether a call of this session is sent under id.
func (f *Fold) HasCallID(id string) bool {
	_, ok := f.ids[id]
	return ok && id != ""
}

// steeringHeader begins the text of a message that the user sent into a running
// turn. The released program writes it.
const steeringHeader = "Steering update from user while current run was active:"

// userInput starts a turn, unless it belongs to the one that is open: a steering
// message, or an automatic prompt that goes on after a recovery.
func (f *Fold) userInput(at int, p jsonscan.Value) {
	text := p.Get("text").LenientText()
	auto, _ := p.Get("auto_recovery").Bool()
	if (auto || strings.HasPrefix(text, steeringHeader)) && f.turn.active && !f.turn.ended() && f.turn.failure == "" {
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
	f.turn.add(at, userItem(text))
}

// assistantOutput is the authoritative text of the open segment. What the file
// already has of it, as chunks that something divided, is not repeated.
func (f *Fold) assistantOutput(at int, p jsonscan.Value) {
	if text, ok := p.Get("text").Text(); ok {
		pending := f.turn.text.String()
		f.turn.text.Reset()
		f.turn.text.WriteString(f.turn.unsaid(text, pending))
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
		f.turn.add(at, provider.Item{Kind: provider.ItemResponse, Raw: withoutEncrypted(item)})
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
	content, ok := res.Get("content").Text()
	if !ok {
		content = res.Get("output").LenientText()
	}
	v, evidence := injection.RecordedIn(res.Get("metadata")), evidenceOf(res.Get("metadata"))
	if f.turn.outputs > 0 {
		evidence = "" // a task's log is told without what is recorded beside a result
	}
	text := judged(v, name, content, evidence, f.turn.outputs)
	sent, ok := f.open[id]
	if !ok {
		f.turn.add(at, provider.Item{Kind: provider.ItemNote, Text: orphanNote(name, text)})
		return
	}
	delete(f.open, id)
	f.turn.scripts.answered(id)
	success, _ := res.Get("success").Bool()
	f.turn.settle(sent, success || v.Enforced(), content)
	f.turn.add(at, provider.Item{Kind: provider.ItemResult, CallID: sent, Name: name, Success: success, Text: text})
	f.turn.await(at, id, v, content, evidence)
}

// Compacted reports whether the conversation begins with a checkpoint.
func (f *Fold) Compacted() bool { return len(f.summary) > 0 }

// compaction starts afresh from a valid checkpoint (storage.md 6.4). The latest
// one counts: records before its cutoff, and earlier checkpoints, are left out.
func (f *Fold) compaction(at int, p jsonscan.Value) {
	version, _ := p.Get("schema_version").Uint64()
	cutoff, ok := p.Get("cutoff_event_count").Uint64()
	summary := p.Get("summary").LenientText()
	if version != 1 || !ok || cutoff > uint64(at) || isBlank(summary) ||
		isBlank(p.Get("provider").LenientText()) || isBlank(p.Get("model").LenientText()) {
		return
	}
	f.endTurn(at)
	f.summary = []entry{{item: checkpointMessage(summary), at: at}}
	if note := evidenceNote(p.Get("execution_effects")); note != "" {
		f.summary = append(f.summary, entry{item: userItem(note), at: at})
	}
	f.done = slices.DeleteFunc(f.done, func(e entry) bool { return uint64(e.at) < cutoff })
	orphans(f.done)
}

// orphans turns results into notes whose call a cutoff has taken away.
func orphans(entries []entry) {
	calls := make(map[string]bool)
	for i := range entries {
		switch it := &entries[i].item; {
		case it.Kind == provider.ItemCall:
			calls[it.CallID] = true
		case it.Kind == provider.ItemResult && !calls[it.CallID]:
			*it = provider.Item{Kind: provider.ItemNote, Text: orphanNote(it.Name, it.Text), Cache: new(provider.Cache)}
		}
	}
}

// unknown keeps what a kind of a later release says, in short.
func (f *Fold) unknown(at int, kind session.Kind, p jsonscan.Value) {
	for _, field := range []string{"text", "message", "content"} {
		if text := p.Get(field).LenientText(); !isBlank(text) {
			f.flushText(at)
			note := fmt.Sprintf("[A record of kind %s says:]\n%s", cutRunes(string(kind), maxKindChars), cutRunes(text, maxFieldChars))
			f.turn.add(at, provider.Item{Kind: provider.ItemNote, Text: note})
			return
		}
	}
}

// endTurn moves what survives of the open turn into the closed ones.
func (f *Fold) endTurn(at int) {
	f.flushText(at)
	f.done = append(f.done, f.closed()...)
	f.turn = turn{outputs: f.turn.outputs}
	clear(f.open)
}
