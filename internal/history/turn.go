package history

import (
	"strings"

	"magicode/internal/redact"
	"magicode/internal/textbuf"
)

// message is one message of the open turn. Its text is control-stripped, not
// yet redacted; an activity's is its label, and state follows it.
type message struct {
	kind    kind
	state   state
	partial bool
	id      string
	text    string
	grown   *textbuf.Builder // takes the place of text once chunks were added to it
}

// set gives the message a new text.
func (m *message) set(text string) { m.text, m.grown = text, nil }

// extend adds to its text.
func (m *message) extend(text string) {
	if m.grown == nil {
		m.grown = new(textbuf.Builder)
		m.grown.WriteString(m.text)
		m.text = ""
	}
	m.grown.WriteString(text)
}

// after returns what follows the message's text in s.
func (m *message) after(s string) (rest string, ok bool) {
	if m.grown == nil {
		return strings.CutPrefix(s, m.text)
	}
	return m.grown.CutPrefixOf(s)
}

// state is what an activity's text ends in.
type state uint8

const (
	none state = iota
	started
	completed
	failed
)

var stateTexts = [...]string{"", ": started", ": completed", ": failed"}

// display returns the text of the finished message (storage.md 7.3). The state
// of an activity stays outside the redaction: "grep token: completed" would
// lose it, and the protocol wants it shown. Labels come redacted.
func (m *message) display() string {
	if m.kind == activity {
		return m.text + stateTexts[m.state]
	}
	if m.grown != nil {
		return redact.Display(m.grown.String())
	}
	return redact.Display(m.text)
}

// size is the length of its text.
func (m *message) size() int {
	n := len(m.text) + len(stateTexts[m.state])
	if m.grown != nil {
		n += m.grown.Len()
	}
	return n
}

// identity names a reasoning summary within a turn.
type identity struct{ turn, item string }

// noMessage is the index of no message.
const noMessage = -1

// turn is the state of storage.md 7.1 for the turn that is still open. What
// the specification calls prior, the assistant text before the last boundary,
// is not kept: it is the text of the assistant messages from priorFrom on
// without the current one.
type turn struct {
	msgs      []message
	current   int // the open assistant message
	priorFrom int
	text      int // bytes of all texts

	spoke     bool // has a user or an assistant message
	hasOutput bool
	terminal  bool
	partial   bool

	open       map[string]string // call id -> label, of calls without a result
	activities map[string]int    // call id -> message
	summaries  map[identity]int  // -> message

	interruption string // id of the diagnostic that a snapshot of this turn adds
}

func newTurn() turn { return turn{current: noMessage} }

// boundary closes the open assistant message.
func (t *turn) boundary() { t.current = noMessage }

// afterPrior returns what follows the prior text in s. ok is false when there
// is no prior text or s does not begin with it.
func (t *turn) afterPrior(s string) (rest string, ok bool) {
	rest = s
	for i := t.priorFrom; i < len(t.msgs); i++ {
		m := &t.msgs[i]
		if m.kind != assistant || i == t.current {
			continue
		}
		if rest, ok = m.after(rest); !ok {
			return s, false
		}
	}
	return rest, ok
}

// continues reports whether s begins with the text of the open assistant message.
func (t *turn) continues(s string) bool {
	if t.current == noMessage {
		return true
	}
	_, ok := t.msgs[t.current].after(s)
	return ok
}

// interrupted reports whether ending the turn here cuts it off.
func (t *turn) interrupted() bool {
	return !t.terminal && (len(t.open) > 0 || !t.hasOutput && t.spoke)
}

// settled reports whether ending the turn here makes its assistant messages
// whole.
func (t *turn) settled() bool {
	return (t.terminal || t.hasOutput) && !t.partial && !t.interrupted()
}

// reset makes room for the next turn, keeping what was allocated unless a large
// turn made it large.
func (t *turn) reset() {
	const keep = 256
	msgs, open, activities, summaries := t.msgs[:0], t.open, t.activities, t.summaries
	if cap(msgs) > keep {
		msgs = nil
	}
	clear(t.msgs) // lets go of the texts
	clear(open)
	clear(activities)
	clear(summaries)
	*t = turn{current: noMessage, msgs: msgs, open: open, activities: activities, summaries: summaries}
}
