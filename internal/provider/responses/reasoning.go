package responses

import (
	"bytes"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
)

// maxSummaryBytes bounds the text that is gathered for a summary without a completion.
const maxSummaryBytes = 1 << 20

// summaries keeps the provenance and the completions of reasoning
// (providers.md 11.5): one reasoning item per id, each new summary text once.
type summaries struct {
	sink       *exchange.Sink
	gathered   []byte            // deltas, in case no completion names them
	first      string            // the item of the first delta
	identified bool              // a completion came
	texts      map[string]string // item id -> its last completed summary
	items      map[string]bool   // ids of items that were emitted
	done       int               // items that were emitted
}

func (s *summaries) delta(e *event) {
	if e.delta.Kind() != jsonscan.String {
		return
	}
	id := e.itemID.LenientText()
	if len(s.gathered) == 0 {
		s.first = id
	}
	if len(s.gathered) < maxSummaryBytes {
		s.gathered = exchange.AppendText(s.gathered, e.delta)
	}
	s.sink.Summary(id, e.delta)
}

// partDone is the completion of one part.
func (s *summaries) partDone(e *event) {
	id := e.item.Get("id").LenientText()
	for _, v := range []jsonscan.Value{e.itemID, e.id} {
		if id == "" {
			id = v.LenientText()
		}
	}
	s.complete(id, e.text.LenientText())
}

func (s *summaries) complete(id, text string) {
	s.identified = true
	if len(bytes.TrimSpace([]byte(text))) == 0 {
		return
	}
	if id != "" {
		if last, ok := s.texts[id]; ok && last == text {
			return
		}
		if s.texts == nil {
			s.texts = make(map[string]string)
		}
		s.texts[id] = text
	}
	s.sink.Emit(provider.Event{Kind: provider.EventReasoningDone, Text: text, ItemID: id, ProviderSummary: true})
}

// item emits a reasoning item once, in its place, and completes its summary.
func (s *summaries) item(item jsonscan.Value, n int) {
	id := item.Get("id").LenientText()
	if !(n >= 0 && n < s.done) && !(id != "" && s.items[id]) {
		s.done++
		if id != "" {
			if s.items == nil {
				s.items = make(map[string]bool)
			}
			s.items[id] = true
		}
		s.sink.Emit(provider.Event{Kind: provider.EventItem, ItemID: id, Raw: clone(item)})
	}
	if text := summaryText(item.Get("summary")); text != "" {
		s.complete(id, text)
	}
}

// summaryText joins the parts of a summary that are not blank.
func summaryText(summary jsonscan.Value) string {
	var out []byte
	for part := range summary.Elements() {
		text := part.Get("text").LenientText()
		if !part.Get("type").Is("summary_text") || len(bytes.TrimSpace([]byte(text))) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = append(out, text...)
	}
	return string(out)
}

// rest completes a summary of which only deltas came.
func (s *summaries) rest() {
	if s.identified || len(bytes.TrimSpace(s.gathered)) == 0 {
		return
	}
	s.complete(s.first, string(s.gathered))
}
