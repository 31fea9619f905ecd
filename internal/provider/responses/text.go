package responses

import (
	"magicode/internal/jsonscan"
	"magicode/internal/provider/exchange"
)

// texts knows which messages have arrived as deltas, so that text which came
// without any is recovered once (providers.md 11.3).
type texts struct {
	sink *exchange.Sink
	seen map[string]bool // items for which a delta came
	last string          // the last of them: most streams have one
	open bool            // deltas came for a message that has not been finished
	done int             // finished messages
}

func (t *texts) delta(e *event) {
	if e.delta.Kind() != jsonscan.String || len(e.delta) == 2 {
		return
	}
	t.open = true
	if !e.itemID.Is(t.last) {
		t.note(e.itemID.LenientText())
	}
	t.sink.Text(e.delta)
}

func (t *texts) note(id string) {
	if t.seen == nil {
		t.seen = make(map[string]bool)
	}
	t.seen[id] = true
	t.last = id
}

// item finishes a message. The n-th message of a final response is known when
// as many were finished before.
func (t *texts) item(item jsonscan.Value, n int) {
	if n >= 0 && n < t.done {
		return
	}
	t.done++
	id := item.Get("id").LenientText()
	if t.open || id != "" && t.seen[id] {
		t.open = false
		return
	}
	if role := item.Get("role"); role != nil && !role.Is("assistant") {
		return
	}
	for part := range item.Get("content").Elements() {
		switch typ := part.Get("type"); {
		case typ.Is("output_text"), typ.Is("text"):
			t.sink.Text(part.Get("text"))
		case typ.Is("refusal"):
			t.sink.Text(part.Get("refusal"))
		}
	}
}
