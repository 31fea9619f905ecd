package replay

import (
	"fmt"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/session"
)

// scripts are the nested calls of a turn, by the call that holds them. A batch
// whose outer result is in the file has told the model everything; of another
// one the host's records are the only evidence (storage.md 6.6).
type scripts struct{ batches []*batch }

type batch struct {
	parent   string // call id in the file
	answered bool
	calls    []inner
	contexts []injected
	warnings []string
}

type inner struct {
	id, name string
	done, ok bool
}

// injected is a context that nested calls produced.
type injected struct{ id, content string }

func (s *scripts) of(parent string) *batch {
	for _, b := range s.batches {
		if b.parent == parent {
			return b
		}
	}
	b := &batch{parent: parent}
	s.batches = append(s.batches, b)
	return b
}

// take notes one record of a nested call.
func (s *scripts) take(kind session.Kind, p jsonscan.Value) {
	b := s.of(p.Get("parent_call_id").LenientText())
	switch kind {
	case session.KindCodeModeToolCall:
		b.calls = append(b.calls, inner{id: p.Get("id").LenientText(), name: p.Get("name").LenientText()})
	case session.KindCodeModeToolResult:
		id := p.Get("call_id").LenientText()
		for i := range b.calls {
			if b.calls[i].id == id {
				b.calls[i].done = true
				b.calls[i].ok, _ = p.Get("result").Get("success").Bool()
			}
		}
	case session.KindCodeModeContext:
		b.contexts = append(b.contexts, injected{id: p.Get("code_mode_context_id").LenientText(), content: p.Get("content").LenientText()})
	case session.KindCodeModeWarning:
		b.warnings = append(b.warnings, p.Get("warning").LenientText())
	}
}

func (s *scripts) answered(call string) {
	for _, b := range s.batches {
		b.answered = b.answered || b.parent == call
	}
}

// delivered notes a context that stands in the conversation by itself.
func (s *scripts) delivered(p jsonscan.Value) {
	id := p.Get("code_mode_context_id").LenientText()
	if id == "" {
		return
	}
	for _, b := range s.batches {
		b.contexts = slices.DeleteFunc(b.contexts, func(c injected) bool { return c.id == id })
	}
}

// appendTo adds what the model was not told.
func (s *scripts) appendTo(items []entry) []entry {
	at := lastAt(items)
	for _, b := range s.batches {
		if note := b.note(); note != "" {
			items = append(items, entry{item: userItem(note), at: at})
		}
		for _, c := range b.contexts {
			if c.content != "" {
				items = append(items, entry{item: userItem(c.content), at: at})
			}
		}
	}
	return items
}

func (b *batch) note() string {
	if b.answered || len(b.calls) == 0 {
		return ""
	}
	var n strings.Builder
	n.WriteString("[Recorded by the host: a script ended without a result. It had made these calls:]")
	for _, c := range b.calls {
		state := "no result is recorded; it may have had effects"
		if c.done {
			state = "failed"
			if c.ok {
				state = "succeeded"
			}
		}
		fmt.Fprintf(&n, "\n- %s: %s", c.name, state)
	}
	for _, w := range b.warnings {
		fmt.Fprintf(&n, "\nWarning: %s", cutRunes(w, maxFieldChars))
	}
	return cutRunes(n.String(), maxNoteChars)
}
