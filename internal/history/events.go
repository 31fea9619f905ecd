package history

import (
	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// apply is the table of storage.md 7.1. Kinds without a row show nothing.
func (f *Fold) apply(rec session.Record) error {
	p := jsonscan.Value(rec.Payload)
	switch rec.Kind {
	case session.KindUserInput:
		return f.userInput(p)
	case session.KindCompaction:
		return f.compaction(p)
	case session.KindAssistantChunk:
		return f.assistantChunk(p)
	case session.KindAssistantOutput:
		return f.assistantOutput(p)
	case session.KindReasoningSummary:
		return f.reasoningSummary(p)
	case session.KindToolCall, session.KindCodeModeToolCall:
		return f.toolCall(p)
	case session.KindToolResult, session.KindToolDisplayResult, session.KindCodeModeToolResult:
		return f.toolResult(p)
	case session.KindTurnStatus:
		return f.turnStatus(p)
	case session.KindDiagnostic, session.KindHookDiagnostic:
		return f.diagnostic(p.Get("message"))
	case session.KindCodeModeWarning:
		return f.diagnostic(p.Get("warning"))
	}
	return nil
}

func (f *Fold) userInput(p jsonscan.Value) error {
	if p.Get("auto_recovery").Kind() == jsonscan.True {
		f.turn.boundary() // the turn goes on: decision 22
		return nil
	}
	if err := f.endTurn(); err != nil {
		return err
	}
	if hidden(p.Get("origin")) {
		return nil
	}
	return f.addText(user, p.Get("text"), false)
}

// hidden reports whether an input of this origin is the program's own.
func hidden(origin jsonscan.Value) bool {
	return origin.Is("automatic_compaction") || origin.Is("automatic_continuation") || origin.Is("provider_only")
}

func (f *Fold) compaction(p jsonscan.Value) error {
	if err := f.endTurn(); err != nil {
		return err
	}
	return f.addText(compaction, p.Get("summary"), false)
}

// addText adds a message whose text v must be.
func (f *Fold) addText(k kind, v jsonscan.Value, partial bool) error {
	text, ok := v.Text()
	if !ok {
		return ErrInvalid
	}
	_, err := f.add(k, redact.Strip(text), partial)
	return err
}

func (f *Fold) assistantChunk(p jsonscan.Value) error {
	text, ok := p.Get("text").Text()
	if !ok {
		return ErrInvalid
	}
	return f.assistantText(redact.Strip(text), true)
}

// assistantText adds to the open assistant message, or replaces its text, or
// opens one. Empty text does nothing.
func (f *Fold) assistantText(text string, more bool) error {
	t := &f.turn
	if text == "" {
		return nil
	}
	if t.current == noMessage {
		at, err := f.add(assistant, text, true)
		t.current = at
		return err
	}
	m := &t.msgs[t.current]
	if !more {
		t.text -= m.size()
		m.set(text)
		return f.grow(len(text))
	}
	if err := f.grow(len(text)); err != nil {
		return err
	}
	m.extend(text)
	return nil
}

func (f *Fold) assistantOutput(p jsonscan.Value) error {
	t := &f.turn
	v := p.Get("text")
	if v != nil { // without text, an older record: the chunks are all there is
		text, ok := v.Text()
		if !ok {
			return ErrInvalid
		}
		text = redact.Strip(text)
		if rest, ok := t.afterPrior(text); ok && t.continues(rest) {
			text = rest
		}
		if err := f.assistantText(text, false); err != nil {
			return err
		}
	}
	t.hasOutput = true
	t.priorFrom = len(t.msgs)
	if t.current != noMessage {
		t.priorFrom = t.current
	}
	return nil
}

func (f *Fold) reasoningSummary(p jsonscan.Value) error {
	t := &f.turn
	text, ok := p.Get("text").Text()
	if !ok {
		return ErrInvalid
	}
	if p.Get("provider_summary").Kind() != jsonscan.True {
		return nil
	}
	t.boundary()
	text = redact.Strip(text)
	item, identified := p.Get("item_id").Text()
	turnID, _ := p.Get("turn_id").Text()
	id := identity{turnID, item}
	if at, known := t.summaries[id]; identified && known {
		return f.replace(at, text)
	}
	at, err := f.add(reasoning, text, false)
	if err == nil && identified {
		put(&t.summaries, id, at)
	}
	return err
}

// replace gives an earlier message of the turn a new text.
func (f *Fold) replace(at int, text string) error {
	m := &f.turn.msgs[at]
	f.turn.text -= m.size()
	m.set(text)
	return f.grow(len(text))
}

func (f *Fold) diagnostic(v jsonscan.Value) error {
	if v == nil {
		return nil
	}
	f.turn.boundary()
	return f.addText(diagnostic, v, false)
}

// label is the display label of a call. It keeps the protocol's bound of an
// activity's summary with its state: a script in a command does not eat up the
// snapshot that all of the session must fit.
func label(name string, arguments jsonscan.Value) string {
	return redact.Cut(redact.Display(tool.Label(name, arguments)), maxActivityBytes-len(stateTexts[completed]))
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}
