package replay

import (
	"strings"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// turn is the turn that the file has not ended yet.
type turn struct {
	items []entry
	text  strings.Builder // chunks since the last boundary
	chars int

	active         bool // the provider did something
	committed      bool
	incomplete     bool
	stopped        string // cancelled, failed, compaction_required
	abort          bool
	unsafeProgress bool
}

func (t *turn) add(at int, item provider.Item) {
	t.chars += utf8.RuneCountInString(item.Text) + len(item.Arguments)
	t.items = append(t.items, entry{item: item, at: at})
}

func (t *turn) status(p jsonscan.Value) {
	t.active = true
	switch s := p.Get("status").LenientText(); s {
	case "complete":
		t.committed = true
	case "incomplete":
		t.incomplete = true
	case "cancelled", "canceled", "failed", "compaction_required":
		t.stopped = s
	}
	if text := p.Get("assistant_text").LenientText(); text != "" && !t.hasAssistant() && !isBlank(text) {
		t.add(0, provider.Item{Kind: provider.ItemMessage, Role: "assistant", Text: text})
	}
}

func (t *turn) ended() bool { return t.committed || t.incomplete || t.stopped != "" }

func (t *turn) hasAssistant() bool {
	for _, e := range t.items {
		if e.item.Kind == provider.ItemMessage && e.item.Role == "assistant" {
			return true
		}
	}
	return false
}

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
		return paired(items)
	case t.incomplete:
		return nil
	case t.stopped != "" && t.active:
		out := paired(items)
		if note := lossNote(t, items); note != "" {
			out = append(out, entry{item: provider.Item{Kind: provider.ItemMessage, Role: "user", Text: note}})
		}
		return out
	case t.chars > maxInterruptedChars:
		return nil
	default:
		return userOnly(items)
	}
}

// paired drops calls that never got a result: every API refuses them.
func paired(items []entry) []entry {
	answered := make(map[string]bool)
	for _, e := range items {
		if e.item.Kind == provider.ItemResult {
			answered[e.item.CallID] = true
		}
	}
	out := make([]entry, 0, len(items))
	for _, e := range items {
		if e.item.Kind == provider.ItemCall && !answered[e.item.CallID] {
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

// uniqueID returns id, or id with a number when the session has used it.
func (f *Fold) uniqueID(id string) string {
	if f.ids == nil {
		f.ids = make(map[string]struct{})
	}
	sent := id
	for n := 2; ; n++ {
		if _, used := f.ids[sent]; !used && sent != "" {
			f.ids[sent] = struct{}{}
			return sent
		}
		sent = numbered(id, n)
	}
}
