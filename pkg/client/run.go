package client

import (
	"strings"

	"magicode/pkg/localagent"
)

// Message is one assistant segment of a run.
type Message struct {
	ID       string
	deltas   strings.Builder
	nextPart int
	gap      bool // a delta part was missing: the deltas are no whole prefix

	parts    strings.Builder
	wantPart int
	settled  bool // a complete reconciliation came
	text     string
	Partial  bool
}

// Text is what may be shown: the last complete reconciliation, else the deltas
// so far. complete is false for deltas.
func (m *Message) Text() (text string, complete bool) {
	if m.settled {
		return m.text, true
	}
	return m.deltas.String(), false
}

// Gap reports whether the deltas shown are known to miss a part.
func (m *Message) Gap() bool { return m.gap && !m.settled }

// Activity is the latest state of one activity.
type Activity struct{ ID, Kind, Name, State string }

// Run follows the events of one run.
type Run struct {
	ID         string
	SessionID  string
	Persisted  bool
	Messages   []*Message
	Activities []*Activity
	Finished   *Event

	byID       map[string]*Message
	activities map[string]*Activity
}

// NewRun follows a run that turn.start admitted.
func NewRun(sessionID, runID string) *Run {
	return &Run{ID: runID, SessionID: sessionID, byID: map[string]*Message{}, activities: map[string]*Activity{}}
}

// Apply takes the next event of the run. Its error is a protocol violation.
func (r *Run) Apply(ev Event) error {
	if ev.RunID != r.ID || ev.SessionID != r.SessionID {
		return violation("an event of another run")
	}
	if r.Finished != nil {
		return violation("an event after run.finished")
	}
	if !r.Persisted && !oneOf(ev.Name, localagent.EventInputPersisted, localagent.EventDiagnostic, localagent.EventRunFinished) {
		return violation("%s before input.persisted", ev.Name)
	}
	switch ev.Name {
	case localagent.EventInputPersisted:
		if r.Persisted {
			return violation("input.persisted twice")
		}
		r.Persisted = true
	case localagent.EventMessageDelta:
		return r.delta(ev)
	case localagent.EventMessageReconcile:
		return r.reconcile(ev)
	case localagent.EventActivity:
		r.activity(ev)
	case localagent.EventRunFinished:
		for _, m := range r.Messages {
			if m.wantPart != 0 {
				return violation("run.finished in the middle of a reconciliation")
			}
		}
		r.Finished = &ev
	}
	return nil
}

func (r *Run) message(id string) *Message {
	m := r.byID[id]
	if m == nil {
		m = &Message{ID: id}
		r.byID[id] = m
		r.Messages = append(r.Messages, m)
	}
	return m
}

func (r *Run) delta(ev Event) error {
	m := r.message(ev.MessageID)
	if ev.Part < m.nextPart {
		return violation("delta part %d after %d", ev.Part, m.nextPart-1)
	}
	m.gap = m.gap || ev.Part != m.nextPart
	m.nextPart = ev.Part + 1
	m.deltas.WriteString(ev.Text)
	return nil
}

func (r *Run) reconcile(ev Event) error {
	m := r.message(ev.MessageID)
	if ev.Part != m.wantPart {
		return violation("reconciliation part %d, wanted %d", ev.Part, m.wantPart)
	}
	if ev.Part == 0 {
		m.parts.Reset()
	}
	m.parts.WriteString(ev.Text)
	m.wantPart++
	if ev.LastPart {
		m.text, m.settled, m.Partial, m.wantPart = m.parts.String(), true, ev.Partial, 0
	}
	return nil
}

func (r *Run) activity(ev Event) {
	a := r.activities[ev.ActivityID]
	if a == nil {
		a = &Activity{ID: ev.ActivityID, Kind: ev.Kind, Name: ev.Activity}
		r.activities[ev.ActivityID] = a
		r.Activities = append(r.Activities, a)
	}
	a.State = ev.State
}
