package replay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/textbuf"
)

// turn is the turn that the file has not ended yet.
type turn struct {
	items []entry
	text  textbuf.Builder // chunks since the last boundary
	since int             // items from here on follow the last user message or tool record
	chars int

	active     bool // the provider did something
	committed  bool
	incomplete bool
	stopped    string // cancelled, failed, compaction_required
	failure    string // category of a provider failure that has no status (older files)

	abort          bool // there are abort-recovery facts
	unsafeProgress bool // arguments of a call had begun to arrive
	facts          []string

	awaiting []awaiting
	children []child
	outputs  int // limit of shorten
	scripts  scripts
}

func (t *turn) add(at int, item provider.Item) {
	t.chars += utf8.RuneCountInString(item.Text) + len(item.Arguments)
	item.Cache = new(provider.Cache) // a conversation is sent again and again
	t.items = append(t.items, entry{item: item, at: at})
	if item.Kind == provider.ItemCall || item.Kind == provider.ItemResult || item.Role == "user" {
		t.since = len(t.items)
	}
}

func userItem(text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: "user", Text: text, Cache: new(provider.Cache)}
}

func isAssistant(e entry) bool {
	return e.item.Kind == provider.ItemMessage && e.item.Role == "assistant"
}

// status takes the end of a turn. Its text is all that the run said: what the
// messages lack of it, because chunks lag behind, is added to the last one.
func (t *turn) status(at int, p jsonscan.Value) {
	t.active = true
	switch s := p.Get("status").LenientText(); s {
	case "complete":
		t.committed = true
	case "incomplete":
		t.incomplete = true
	case "cancelled", "canceled", "failed", "compaction_required":
		t.stopped = s
	}
	rest, ok := remainder(p.Get("assistant_text").LenientText(), t.items)
	if !ok || isBlank(rest) {
		return
	}
	if n := len(t.items); n > t.since && isAssistant(t.items[n-1]) {
		last := &t.items[n-1].item
		last.Text = strings.TrimRightFunc(last.Text, unicode.IsSpace) + rest
		last.Cache = new(provider.Cache) // the old text may have been sent
		t.chars += utf8.RuneCountInString(rest)
		return
	}
	t.add(at, provider.Item{Kind: provider.ItemMessage, Role: "assistant", Text: trimLeft(rest)})
}

// unsaid returns what of an authoritative text is in no message yet. It is the
// text of the segment since the last boundary, or of the whole turn: then the
// part behind the earlier segments begins with what is pending.
func (t *turn) unsaid(text, pending string) string {
	if !isBlank(pending) {
		if rest, ok := remainder(text, t.items); ok && strings.HasPrefix(trimLeft(rest), trimSpace(pending)) {
			return trimLeft(rest)
		}
	}
	if rest, ok := remainder(text, t.items[t.since:]); ok && len(rest) < len(text) {
		return trimLeft(rest)
	}
	return text
}

// remainder returns what follows in text after all the assistant's messages of
// entries, one after the other, with any white space between them.
func remainder(text string, entries []entry) (rest string, ok bool) {
	rest = text
	for _, e := range entries {
		if !isAssistant(e) {
			continue
		}
		said := trimSpace(e.item.Text)
		if rest, ok = strings.CutPrefix(trimLeft(rest), said); !ok {
			return "", false
		}
	}
	return rest, true
}

func trimSpace(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }
func trimLeft(s string) string  { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// aborted takes facts about a response that was cut off while it reasoned or
// began a call.
func (t *turn) aborted(p jsonscan.Value) {
	t.abort = true
	if on, _ := p.Get("unsafe_tool_call_progress").Bool(); on {
		t.unsafeProgress = true
	}
	for _, field := range []string{"reasoning_preview", "partial_tool_call_summary"} {
		if text := p.Get(field).LenientText(); !isBlank(text) {
			t.facts = append(t.facts, text)
		}
	}
}

func (t *turn) ended() bool { return t.committed || t.incomplete || t.stopped != "" }

// closed returns the items of the open turn that a replay keeps, by how the
// turn ended (runner.md 25). It changes nothing.
func (f *Fold) closed() []entry {
	t := &f.turn
	items := t.items
	if text := t.text.String(); !isBlank(text) {
		items = append(items[:len(items):len(items)], entry{item: provider.Item{Kind: provider.ItemMessage, Role: "assistant", Text: text}})
	}
	switch {
	case t.committed:
		return t.scripts.appendTo(paired(items, false))
	case t.incomplete:
		return nil
	case t.stopped != "":
		out := t.scripts.appendTo(paired(items, true))
		note, lost := recoveryNote(t, items), t.lost()
		if note != "" || len(lost) > 0 {
			out = append(out, entry{item: userItem(note), at: lastAt(items), children: lost})
		}
		return out
	case t.failure != "":
		if !t.active {
			return nil
		}
		return []entry{{item: userItem(failureNote(t, items)), at: lastAt(items)}}
	case t.chars > maxInterruptedChars:
		return nil
	default:
		return userOnly(items)
	}
}

func lastAt(items []entry) int {
	at := 0
	for _, e := range items {
		at = max(at, e.at)
	}
	return at
}

// paired drops calls that never got a result: every API refuses them. Of a turn
// that was stopped a provider's own items are dropped too: they may belong to
// what is missing.
func paired(items []entry, stopped bool) []entry {
	answered := make(map[string]bool)
	for _, e := range items {
		if e.item.Kind == provider.ItemResult {
			answered[e.item.CallID] = true
		}
	}
	out := make([]entry, 0, len(items))
	for _, e := range items {
		if e.item.Kind == provider.ItemCall && !answered[e.item.CallID] || stopped && e.item.Kind == provider.ItemResponse {
			continue
		}
		out = append(out, e)
	}
	return out
}

func userOnly(items []entry) []entry {
	var out []entry
	for _, e := range items {
		if e.item.Kind == provider.ItemMessage && e.item.Role == "user" {
			out = append(out, e)
		}
	}
	return out
}

// uniqueID returns id, or id with a number when the session has used it. A
// provider that sends one id for ever costs one look-up each time.
func (f *Fold) uniqueID(id string) string {
	if f.ids == nil {
		f.ids = make(map[string]int)
	}
	n, used := f.ids[id]
	if !used && id != "" {
		f.ids[id] = 2
		return id
	}
	for n = max(n, 2); ; n++ {
		sent := numbered(id, n)
		if _, used := f.ids[sent]; !used {
			f.ids[id], f.ids[sent] = n+1, 2
			return sent
		}
	}
}
