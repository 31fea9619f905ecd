package client

import (
	"strings"

	"magicode/pkg/localagent"
)

// Message is one assistant segment of a run.
type Message struct {
	ID      string
	Partial bool // as the last complete reconciliation said

	shown    strings.Builder // the last complete reconciliation and the deltas after it
	settled  bool            // nothing but that reconciliation is in shown
	gap      bool            // a delta part is missing in shown
	nextPart int             // of deltas

	parts    strings.Builder // the reconciliation that is arriving
	wantPart int
	wantFlag bool // its partial flag
}

// Text is what may be shown: the last complete reconciliation with the deltas
// that followed it. complete is true for a reconciliation that nothing followed.
func (m *Message) Text() (text string, complete bool) { return m.shown.String(), m.settled }

// Gap reports whether the text shown is known to miss a delta: it is incomplete
// until the next complete reconciliation.
func (m *Message) Gap() bool { return m.gap }

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

	held       int // bytes of text in Messages
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
		return r.activity(ev)
	case localagent.EventRunFinished:
		return r.finish(ev)
	}
	return nil
}

// finish takes the terminal event. Every message must have been reconciled,
// unless the run could not deliver its events.
func (r *Run) finish(ev Event) error {
	lost := ev.ErrorCode != nil && *ev.ErrorCode == localagent.CodeOutputUnavailable
	for _, m := range r.Messages {
		if (m.wantPart != 0 || !m.settled) && !lost {
			return violation("run.finished without a complete reconciliation of its messages")
		}
	}
	if r.Persisted && ev.Persistence == localagent.PersistenceNotStarted || !r.Persisted && ev.Outcome == localagent.OutcomeCompleted {
		return violation("run.finished contradicts input.persisted")
	}
	r.Finished = &ev
	return nil
}

func (r *Run) message(id string) (*Message, error) {
	m := r.byID[id]
	if m == nil {
		if len(r.Messages) >= localagent.MaxSegments {
			return nil, violation("more than %d messages in a run", localagent.MaxSegments)
		}
		m = &Message{ID: id}
		r.byID[id] = m
		r.Messages = append(r.Messages, m)
	}
	return m, nil
}

func (r *Run) delta(ev Event) error {
	m, err := r.message(ev.MessageID)
	if err != nil {
		return err
	}
	if ev.Part < m.nextPart {
		return violation("delta part %d after %d", ev.Part, m.nextPart-1)
	}
	if err := r.grow(len(ev.Text)); err != nil {
		return err
	}
	m.gap = m.gap || ev.Part != m.nextPart
	m.nextPart = ev.Part + 1
	m.settled = false
	m.shown.WriteString(ev.Text)
	return nil
}

func (r *Run) reconcile(ev Event) error {
	m, err := r.message(ev.MessageID)
	if err != nil {
		return err
	}
	if ev.Part != m.wantPart || ev.Part > 0 && ev.Partial != m.wantFlag {
		return violation("reconciliation part %d, wanted %d", ev.Part, m.wantPart)
	}
	if err := r.grow(len(ev.Text)); err != nil {
		return err
	}
	m.wantFlag = ev.Partial
	m.parts.WriteString(ev.Text)
	m.wantPart++
	if ev.LastPart {
		r.held -= m.shown.Len()
		m.shown.Reset()
		m.shown.WriteString(m.parts.String())
		m.parts.Reset()
		m.settled, m.gap, m.Partial, m.wantPart = true, false, ev.Partial, 0
	}
	return nil
}

// maxHeld bounds the text that a run's messages hold. The bound of the protocol
// is counted before redaction, which may make text longer, and a reconciliation
// arrives beside what it replaces.
const maxHeld = 4 * localagent.MaxContentBytes

func (r *Run) grow(n int) error {
	if r.held += n; r.held > maxHeld {
		return violation("assistant content over its bound")
	}
	return nil
}

func (r *Run) activity(ev Event) error {
	a := r.activities[ev.ActivityID]
	if a == nil {
		if len(r.Activities) >= localagent.MaxActivities {
			return violation("more than %d activities in a run", localagent.MaxActivities)
		}
		a = &Activity{ID: ev.ActivityID, Kind: ev.Kind, Name: ev.Activity}
		r.activities[ev.ActivityID] = a
		r.Activities = append(r.Activities, a)
	}
	a.State = ev.State
	return nil
}
