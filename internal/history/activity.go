package history

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

func (f *Fold) toolCall(p jsonscan.Value) error {
	t := &f.turn
	id, idOK := p.Get("id").Text()
	name, nameOK := p.Get("name").Text()
	if !idOK || !nameOK {
		return ErrInvalid
	}
	t.boundary()
	text := label(name, p.Get("arguments"))
	at, err := f.addActivity(text, started)
	if err != nil {
		return err
	}
	put(&t.open, id, text)
	put(&t.activities, id, at)
	return nil
}

// addActivity adds an activity in the given state.
func (f *Fold) addActivity(label string, s state) (int, error) {
	at, err := f.add(activity, label, s == started)
	if err != nil {
		return 0, err
	}
	f.turn.msgs[at].state = s
	return at, f.grow(len(stateTexts[s]))
}

// toolResult ends the activity of its call where that stands, or adds one when
// the call is not known.
func (f *Fold) toolResult(p jsonscan.Value) error {
	t := &f.turn
	var callID string
	var res jsonscan.Value
	for k, v := range p.Members() {
		switch {
		case k.Is("call_id"):
			callID, _ = v.Text()
		case k.Is("result"):
			res = v
		}
	}
	name, s, ok := readResult(res)
	if !ok {
		return ErrInvalid
	}
	t.boundary()
	text, open := t.open[callID]
	if !open {
		text = label(name, nil)
	}
	delete(t.open, callID)
	if f.whole && s == failed {
		text, s = text+stateTexts[failed]+reason(res), none
	}
	at, known := t.activities[callID]
	if !known {
		_, err := f.addActivity(text, s)
		return err
	}
	m := &t.msgs[at]
	t.text -= m.size()
	m.text, m.state, m.partial = text, s, false
	return f.grow(m.size())
}

// maxReason bounds what is shown of a failed call's result, in bytes.
const maxReason = 200

// reason is the end of a result, where tools say why they failed: the last line,
// and behind it the notes in brackets, such as [exit code 1]. A heading is none. The
// whole is redacted first, since a secret may have several lines. It is for files
// and terminals: the wire shows no result.
func reason(res jsonscan.Value) string {
	content, _ := res.Get("content").Text()
	why := ""
	for rest := strings.TrimSpace(redact.Display(content)); rest != "" && len(why) <= maxReason; {
		at := strings.LastIndexByte(rest, '\n')
		line := strings.TrimSpace(rest[at+1:])
		rest = strings.TrimSpace(rest[:max(at, 0)])
		note := strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
		if note || !strings.HasSuffix(line, ":") {
			why = strings.TrimSpace(line + " " + why)
		}
		if !note {
			break
		}
	}
	if why == "" {
		return ""
	}
	if short := redact.Cut(why, maxReason); short != why {
		why = short + "…"
	}
	return ": " + why
}

// readResult reads what a result must hold, in one pass: its content is the
// bulk of most files and only its type matters here.
func readResult(res jsonscan.Value) (name string, s state, ok bool) {
	var nameOK, contentOK, metadataOK bool
	for k, v := range res.Members() {
		switch {
		case k.Is("tool_name"):
			name, nameOK = v.Text()
		case k.Is("success"):
			switch v.Kind() {
			case jsonscan.True:
				s = completed
			case jsonscan.False:
				s = failed
			default:
				s = none
			}
		case k.Is("content"):
			contentOK = v.Kind() == jsonscan.String
		case k.Is("metadata"):
			metadataOK = true
		}
	}
	return name, s, nameOK && s != none && contentOK && metadataOK
}

// statusNames are the states in which a turn may end, as its diagnostic spells them.
var statusNames = map[string]string{
	"incomplete": "Incomplete", "cancelled": "Cancelled", "canceled": "Cancelled", "failed": "Failed",
	"compaction_required": "CompactionRequired", "complete": "",
}

func (f *Fold) turnStatus(p jsonscan.Value) error {
	t := &f.turn
	status, ok := p.Get("status").Text()
	name, known := statusNames[status]
	if !ok || !known {
		return ErrInvalid
	}
	t.partial = name != ""
	if err := f.statusText(p.Get("assistant_text")); err != nil {
		return err
	}
	for i := range t.msgs {
		if t.msgs[i].kind == assistant {
			t.msgs[i].partial = t.partial
		}
	}
	t.terminal = true
	clear(t.open)
	if !t.partial {
		return nil
	}
	if _, err := f.add(diagnostic, "Turn "+name, true); err != nil {
		return err
	}
	if s, _ := p.Get("error_summary").Text(); strings.TrimSpace(s) != "" {
		return f.addText(diagnostic, p.Get("error_summary"), true)
	}
	return nil
}

// statusText adds the partial reply that a status carries, unless the turn has
// assistant text of its own.
func (f *Fold) statusText(v jsonscan.Value) error {
	for i := range f.turn.msgs {
		if f.turn.msgs[i].kind == assistant {
			return nil
		}
	}
	text, ok := v.Text()
	if !ok {
		return nil
	}
	return f.assistantText(redact.Strip(text), false)
}
