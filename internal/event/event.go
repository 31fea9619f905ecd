package event

import (
	"time"

	"magicode/pkg/localagent"
)

// Event is an event that must not be lost: one of InputPersisted, Reconcile,
// Activity, ApprovalRequested and Diagnostic. The sum is closed.
type Event interface {
	wire() wire
	appendData(dst []byte, ref Ref) []byte
}

// InputPersisted acknowledges the durable input (protocol, "Turns").
type InputPersisted struct {
	MessageID string
	Revision  string
}

// Delta is a piece of at most 4,000 bytes of a message's live text. The queue
// numbers the parts of each message from 0, without gaps.
type Delta struct {
	MessageID string
	Text      string
}

// Reconcile is one chunk of at most 4,000 bytes of a message's authoritative text.
type Reconcile struct {
	MessageID string
	Text      string
	Part      int // from 0
	LastPart  bool
	Partial   bool
}

// Activity tells the state of a tool, a subagent or a compaction. Name and
// Summary have at most 1,024 bytes.
type Activity struct {
	ID      string
	Kind    string // localagent.ActivityTool and its like
	State   string // localagent.ActivityStarted and its like
	Name    string
	Summary string
}

// ApprovalRequested asks the user.
type ApprovalRequested struct {
	ID      string
	Summary string // at most 1,024 bytes
	Expires time.Duration
	// Taken, if not nil, is called once, when the event is queued for output,
	// with the connection's lock held: it must not block nor call the connection.
	Taken func()
}

// Diagnostic tells what the user should know. Without a Code, Err decides it by
// the server's table.
type Diagnostic struct {
	Code    localagent.Code
	Err     error
	Summary string // at most 1,024 bytes
}

// Finished is how a run ended. The connection makes run.finished of it, when
// the worker has ended and the queue is empty.
type Finished struct {
	Outcome     string // localagent.OutcomeCompleted and its like
	Persistence string // localagent.PersistenceDurable and its like
	Revision    string // "" is null
	// Err decides the error code by the server's table; nil is null. It counts
	// only where Outcome is failed.
	Err error
}
