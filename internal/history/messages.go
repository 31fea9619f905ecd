package history

import "magicode/internal/jsonscan"

// Message is one message of a snapshot with its parts joined: already stripped
// of control sequences and redacted, as the wire shows it.
type Message struct {
	Kind    string // user, assistant, reasoning_summary, activity, compaction or diagnostic
	Text    string
	Partial bool
}

// Messages reads the snapshot's pages back, in order.
func (s *Snapshot) Messages() []Message {
	var out []Message
	var text []byte // of the last one
	flush := func() {
		if len(out) > 0 {
			out[len(out)-1].Text, text = string(text), text[:0]
		}
	}
	for _, page := range s.pages {
		array, err := jsonscan.Parse(append(append([]byte{'['}, page.raw...), ']'), jsonscan.Options{})
		if err != nil {
			panic("history: a page is no JSON: " + err.Error()) // written by this package
		}
		for e := range array.Elements() {
			if part, _ := e.Get("part").Uint64(); part == 0 {
				flush()
				kind, _ := e.Get("kind").Text()
				partial, _ := e.Get("partial").Bool()
				out = append(out, Message{Kind: kind, Partial: partial})
			}
			text, _ = e.Get("text").AppendText(text)
		}
	}
	flush()
	return out
}
