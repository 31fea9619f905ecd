package turn

import (
	"context"

	"magicode/internal/event"
	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/pkg/localagent"
)

// sink maps a run's scope to the identities of the wire. One goroutine at a
// time calls it, apart from Try, which shares nothing but ids with the rest.
type sink struct {
	queue *event.Queue
	newID func() string
	input func(ctx context.Context) (messageID, revision string, err error)

	messages   []message // by segment
	activities map[runner.Path]activity
}

// message is one assistant segment.
type message struct {
	id      string
	text    string
	fresh   bool // text came in since the last reconciliation
	sent    bool // a complete reconciliation went out
	partial bool // as it said
	offered bool // a delta went out
}

type activity struct {
	id, kind, name string
}

// message returns the message of a segment, made on its first mention.
func (s *sink) message(segment int) *message {
	for len(s.messages) <= segment {
		s.messages = append(s.messages, message{id: s.newID()})
	}
	return &s.messages[segment]
}

// Try implements runner.Sink.
func (s *sink) Try(d runner.Delta) bool {
	m := s.message(d.Segment)
	if !s.queue.Try(event.Delta{MessageID: m.id, Text: d.Text}) {
		return false
	}
	m.offered = true
	return true
}

// Emit implements runner.Sink.
func (s *sink) Emit(ctx context.Context, ev runner.Event) error {
	switch e := ev.(type) {
	case runner.InputPersisted:
		id, revision, err := s.input(ctx)
		if err != nil {
			return &inputError{err}
		}
		return s.queue.Emit(event.InputPersisted{MessageID: id, Revision: revision})
	case runner.SegmentDone:
		m := s.message(e.Segment)
		m.text, m.fresh = e.Text, true
		return s.reconcile(m, true)
	case runner.ActivityStarted:
		return s.started(e)
	case runner.ActivityFinished:
		return s.finished(e)
	case runner.Notice:
		code := localagent.DiagnosticExecutionNotice
		if e.Hook {
			code = localagent.DiagnosticHookNotice
		}
		return s.queue.Emit(event.Diagnostic{Code: code, Summary: summary(e.Summary)})
	}
	return nil
}

// inputError: the input is stored, but its projection could not be made.
type inputError struct{ err error }

func (e *inputError) Error() string { return "project the input: " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// reconcile sends a message's whole text, unless the last reconciliation said
// the same (decision 23).
func (s *sink) reconcile(m *message, partial bool) error {
	if m.sent && m.partial == partial && !m.fresh {
		return nil
	}
	text := m.text
	for part := 0; ; part++ {
		piece := redact.Cut(text, localagent.MaxLiveTextBytes)
		text = text[len(piece):]
		last := text == ""
		err := s.queue.Emit(event.Reconcile{MessageID: m.id, Text: piece, Part: part, LastPart: last, Partial: partial})
		if err != nil {
			return err
		}
		if last {
			break
		}
	}
	m.sent, m.partial, m.fresh = true, partial, false
	return nil
}

// settle reconciles every message for the last time.
func (s *sink) settle(partial bool) error {
	for i := range s.messages {
		m := &s.messages[i]
		if m.text == "" && !m.offered && !m.sent {
			continue // nothing of it was ever shown
		}
		if err := s.reconcile(m, partial); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) started(e runner.ActivityStarted) error {
	a, known := s.activities[e.Path]
	if !known {
		a = activity{id: s.newID(), kind: activityKind(e.Kind), name: summary(e.Label)}
		if s.activities == nil {
			s.activities = make(map[runner.Path]activity)
		}
		s.activities[e.Path] = a
	}
	return s.state(a, localagent.ActivityStarted)
}

func (s *sink) finished(e runner.ActivityFinished) error {
	state := localagent.ActivityFailed
	if e.OK {
		state = localagent.ActivityCompleted
	}
	return s.state(s.activities[e.Path], state)
}

func (s *sink) state(a activity, state string) error {
	return s.queue.Emit(event.Activity{ID: a.id, Kind: a.kind, State: state, Name: a.name, Summary: state})
}

func activityKind(k runner.ActivityKind) string {
	switch k {
	case runner.ActivitySubagent:
		return localagent.ActivitySubagent
	case runner.ActivityCompaction:
		return localagent.ActivityCompaction
	default:
		return localagent.ActivityTool
	}
}

// summary makes text safe to show within the bound of names and summaries.
func summary(s string) string { return redact.Cut(redact.Display(s), localagent.MaxSummaryBytes) }
