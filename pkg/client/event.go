package client

import (
	"github.com/go-json-experiment/json"

	"magicode/pkg/localagent"
)

// Event is one run event. Only the fields of its Name are set.
type Event struct {
	Name      string `json:"-"`
	Seq       uint64 `json:"-"`
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
	ev := Event{Name: f.Event, Seq: f.Seq}
	if err := json.Unmarshal(f.Data, &ev); err != nil {
		return Event{}, violation("event %s with data of another shape", f.Event)
	}
	if ev.SessionID == "" || ev.RunID == "" {
		return Event{}, violation("event %s without its session or run", f.Event)
	}
	ok := true
	switch ev.Name {
	case localagent.EventInputPersisted:
		ok = ev.Durable && ev.MessageID != "" && ev.Revision != nil
	case localagent.EventMessageDelta, localagent.EventMessageReconcile:
		ok = ev.MessageID != "" && ev.Part >= 0 && len(ev.Text) <= localagent.MaxChunkBytes
	case localagent.EventActivity:
		ok = ev.ActivityID != "" && len(ev.Activity) <= localagent.MaxSummaryBytes && len(ev.Summary) <= localagent.MaxSummaryBytes &&
			oneOf(ev.Kind, localagent.ActivityTool, localagent.ActivitySubagent, localagent.ActivityCompaction) &&
			oneOf(ev.State, localagent.ActivityStarted, localagent.ActivityCompleted, localagent.ActivityFailed)
	case localagent.EventApprovalRequested:
		ok = ev.ApprovalID != "" && len(ev.Summary) <= localagent.MaxSummaryBytes && ev.ExpiresInMS > 0
	case localagent.EventDiagnostic:
		ok = ev.Code != "" && len(ev.Summary) <= localagent.MaxSummaryBytes
	case localagent.EventRunFinished:
		ok = oneOf(ev.Outcome, localagent.OutcomeCompleted, localagent.OutcomeCancelled, localagent.OutcomeFailed) &&
			oneOf(ev.Persistence, localagent.PersistenceDurable, localagent.PersistenceDegraded, localagent.PersistenceNotStarted) &&
			(ev.ErrorCode == nil || knownCode(*ev.ErrorCode))
	default:
		return Event{}, violation("unknown event")
	}
	if !ok {
		return Event{}, violation("event %s outside its bounds", ev.Name)
	}
	return ev, nil
}

func oneOf(s string, allowed ...string) bool {
	for _, a := range allowed {
		if s == a {
			return true
		}
	}
	return false
}
