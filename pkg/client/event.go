package client

import (
	"slices"

	"github.com/go-json-experiment/json"

	"magicode/pkg/localagent"
)

// Event is one run event. Only the fields of its Name are set.
type Event struct {
	Name      string `json:"-"`
	Seq       uint64 `json:"-"`
	Data      []byte `json:"-"` // the event's data as it came
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`

	MessageID string `json:"message_id"`
	Durable   bool   `json:"durable"`
	Part      int    `json:"part"`
	Text      string `json:"text"`
	LastPart  bool   `json:"last_part"`
	Partial   bool   `json:"partial"`

	ActivityID string `json:"activity_id"`
	Kind       string `json:"kind"`
	State      string `json:"state"`
	Activity   string `json:"name"`
	Summary    string `json:"summary"`

	ApprovalID  string `json:"approval_id"`
	ExpiresInMS int    `json:"expires_in_ms"`

	Code localagent.Code `json:"code"`

	Outcome     string           `json:"outcome"`
	Persistence string           `json:"persistence"`
	Revision    *string          `json:"revision"`
	ErrorCode   *localagent.Code `json:"error_code"`
}

// decodeEvent checks an event's name, bounds and enumerations.
func decodeEvent(f Frame) (Event, error) {
	ev := Event{Name: f.Event, Seq: f.Seq, Data: f.Data}
	if f.Data.Kind() != '{' || json.Unmarshal(f.Data, &ev) != nil {
		return Event{}, violation("event %s with data of another shape", f.Event)
	}
	if !validID(ev.SessionID) || !validID(ev.RunID) {
		return Event{}, violation("event %s without its session or run", f.Event)
	}
	var ok bool
	switch ev.Name {
	case localagent.EventInputPersisted:
		ok = ev.Durable && validID(ev.MessageID) && ev.Revision != nil && validID(*ev.Revision)
	case localagent.EventMessageDelta, localagent.EventMessageReconcile:
		ok = validID(ev.MessageID) && ev.Part >= 0 && len(ev.Text) <= localagent.MaxLiveTextBytes
	case localagent.EventActivity:
		ok = validID(ev.ActivityID) && len(ev.Activity) <= localagent.MaxSummaryBytes && len(ev.Summary) <= localagent.MaxSummaryBytes &&
			oneOf(ev.Kind, localagent.ActivityTool, localagent.ActivitySubagent, localagent.ActivityCompaction) &&
			oneOf(ev.State, localagent.ActivityStarted, localagent.ActivityCompleted, localagent.ActivityFailed)
	case localagent.EventApprovalRequested:
		ok = validID(ev.ApprovalID) && len(ev.Summary) <= localagent.MaxSummaryBytes && ev.ExpiresInMS > 0
	case localagent.EventDiagnostic:
		ok = len(ev.Summary) <= localagent.MaxSummaryBytes &&
			(knownCode(ev.Code) || ev.Code == localagent.DiagnosticExecutionNotice || ev.Code == localagent.DiagnosticHookNotice)
	case localagent.EventRunFinished:
		ok = ev.ended()
	default:
		return Event{}, violation("unknown event")
	}
	if !ok {
		return Event{}, violation("event %s outside its bounds", ev.Name)
	}
	return ev, nil
}

// ended reports whether run.finished says something that version 1 can say: an
// error code for a failure and for nothing else, a revision only for a stored input.
func (ev Event) ended() bool {
	failed := ev.Outcome == localagent.OutcomeFailed
	return oneOf(ev.Outcome, localagent.OutcomeCompleted, localagent.OutcomeCancelled, localagent.OutcomeFailed) &&
		oneOf(ev.Persistence, localagent.PersistenceDurable, localagent.PersistenceDegraded, localagent.PersistenceNotStarted) &&
		(ev.ErrorCode != nil) == failed && (ev.ErrorCode == nil || knownCode(*ev.ErrorCode)) &&
		(ev.Revision == nil || validID(*ev.Revision) && ev.Persistence != localagent.PersistenceNotStarted)
}

func oneOf(s string, allowed ...string) bool { return slices.Contains(allowed, s) }
