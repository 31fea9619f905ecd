package attach

import (
	"fmt"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/session"
)

// maxTitleChars bounds a title (storage.md 5.8).
const maxTitleChars = 50

// facts is the fold of what a session says beside its history: what was
// chosen, what it may do, how far it got. Its errors wrap
// ErrInvalid.
type facts struct {
	saved    provider.Selection
	hasSaved bool
	scope    *Scope
	title    string
	prompts  int  // user_input records, automatic ones too
	owed     bool // a prompt has no terminal record yet
}

// Apply takes the next record.
func (f *facts) Apply(rec session.Record) error {
	p := jsonscan.Value(rec.Payload)
	switch rec.Kind {
	case session.KindUserInput:
		f.prompts++
		f.owed = true
		return f.clarify(p)
	case session.KindAssistantOutput:
		f.owed = false
	case session.KindTurnStatus:
		if s := p.Get("status"); s.Is("complete") || s.Is("cancelled") || s.Is("canceled") || s.Is("failed") {
			f.owed = false
		}
	case session.KindSessionTitle:
		f.setTitle(p.Get("title"))
	case session.KindSessionPreferences:
		f.prefer(p)
	case session.KindTaskScope:
		return f.setScope(rec.Payload)
	case session.KindCompaction:
		return f.checkpoint(rec.Index, p)
	}
	return nil
}

func (f *facts) prefer(v jsonscan.Value) {
	if sel, ok := readPreference(v); ok {
		f.saved, f.hasSaved = sel, true
	}
}

func (f *facts) setTitle(v jsonscan.Value) {
	text, _ := v.Text()
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return
	}
	if r := []rune(text); len(r) > maxTitleChars {
		text = string(r[:maxTitleChars])
	}
	f.title = text
}

// checkpoint takes what a compaction carries over from the records it replaced.
// It settles no prompt and opens none: one that was answered before stays so.
func (f *facts) checkpoint(index int, p jsonscan.Value) error {
	aggregate := p.Get("aggregate")
	if n, ok := aggregate.Get("user_input_count").Uint64(); ok && n <= 1<<31 {
		f.prompts = int(n)
	}
	f.setTitle(aggregate.Get("latest_title"))
	f.prefer(p.Get("session_preferences"))
	version, scope := p.Get("task_scope_version"), p.Get("task_scope")
	if absent(version) && absent(scope) {
		return nil
	}
	if index != 0 || !one(version) || absent(scope) {
		return fmt.Errorf("%w: task scope of a checkpoint", ErrInvalid)
	}
	return f.setScope(scope)
}

func (f *facts) setScope(raw []byte) error {
	if f.scope != nil {
		return fmt.Errorf("%w: a second task scope", ErrInvalid)
	}
	s, err := parseScope(raw)
	f.scope = s
	return err
}

// clarify follows the scope's own records: a prompt given under it names its
// version, and steering adds to what was asked.
func (f *facts) clarify(p jsonscan.Value) error {
	if v := p.Get("task_scope_version"); !absent(v) && (f.scope == nil || !one(v)) {
		return fmt.Errorf("%w: a prompt under another task scope", ErrInvalid)
	}
	if f.scope == nil || !p.Get("origin").Is("steering") && p.Get("task_clarification").Kind() != jsonscan.True {
		return nil
	}
	text, ok := p.Get("text").Text()
	if !ok {
		return fmt.Errorf("%w: a clarification without text", ErrInvalid)
	}
	s, err := f.scope.clarified(text)
	if err != nil {
		return err
	}
	f.scope = s
	return nil
}

func absent(v jsonscan.Value) bool {
	return v.Kind() == jsonscan.Invalid || v.Kind() == jsonscan.Null
}

func one(v jsonscan.Value) bool {
	n, ok := v.Uint64()
	return ok && n == 1
}
