package client

import (
	"slices"

	"magicode/pkg/localagent"
)

// Initialized is the result of initialize.
type Initialized struct {
	Capabilities []string          `json:"capabilities"`
	Limits       localagent.Limits `json:"limits"`
	Status       localagent.Status `json:"status"`
}

func (r *Initialized) check() error {
	if len(r.Capabilities) == 0 {
		return violation("an initialize result without capabilities")
	}
	return checkStatus(r.Status)
}

type status struct{ localagent.Status }

func (s *status) check() error { return checkStatus(s.Status) }

func checkStatus(s localagent.Status) error {
	readiness := oneOf(s.Readiness, localagent.ReadinessInitializing, localagent.ReadinessReady) || knownCode(localagent.Code(s.Readiness))
	if !readiness || !oneOf(s.State, localagent.StateStarting, localagent.StateIdle, localagent.StateRunning, localagent.StateFailed) {
		return violation("an unknown state or readiness")
	}
	for _, id := range []*string{s.RunID, s.SessionID} {
		if id != nil && !validID(*id) {
			return violation("a status with an identity outside the grammar")
		}
	}
	return nil
}

// Session is the result of session.create and session.open.
type Session struct {
	SessionID string   `json:"session_id"`
	Durable   bool     `json:"durable"`
	Revision  string   `json:"revision"`
	Notices   []string `json:"notices"`
}

func (s *Session) check() error {
	if !validID(s.SessionID) || !validID(s.Revision) {
		return violation("a session without its identities")
	}
	known := []string{localagent.NoticeCwdUnverified, localagent.NoticeSavedSelectionUnavailable, localagent.NoticeSavedSelection}
	for _, n := range s.Notices {
		if !slices.Contains(known, n) {
			return violation("an unknown notice")
		}
	}
	return nil
}

type turnStarted struct {
	RunID    string `json:"run_id"`
	Accepted bool   `json:"accepted"`
}

func (t *turnStarted) check() error {
	if !validID(t.RunID) || !t.Accepted {
		return violation("a turn that is neither accepted nor refused")
	}
	return nil
}

type cancelled struct {
	Requested bool `json:"cancellation_requested"`
}

func (r *cancelled) check() error { return must(r.Requested) }

type recorded struct {
	Recorded bool `json:"recorded"`
}

func (r *recorded) check() error { return must(r.Recorded) }

type stopping struct {
	State string `json:"state"`
}

func (r *stopping) check() error { return must(r.State == localagent.StateStopping) }

func must(ok bool) error {
	if !ok {
		return violation("a result that acknowledges nothing")
	}
	return nil
}
