package server

import (
	"context"

	"magicode/internal/event"
)

// Startup makes the child's one admitted snapshot.
type Startup interface {
	// Start reads settings, credentials, profiles and MCP definitions, after
	// initialize was admitted. The runtime is nil exactly when err is not; what
	// a failed Start had opened is closed again. The Info holds what is known,
	// also beside an error, which is mapped by codes.go.
	Start(ctx context.Context) (Runtime, Info, error)
}

// Info is what status tells of the startup. Empty is null on the wire. Names
// are at most 256 bytes and already judged safe to show.
type Info struct {
	ContextID string
	Provider  string
	Model     string
}

// Runtime is the admitted snapshot with its attachment. Its methods but Close
// are called one at a time, from a job's goroutine.
type Runtime interface {
	// Create attaches a new lazy session.
	Create(ctx context.Context) (Attached, error)
	// Open attaches exactly this session. A failure leaves the attachment as it was.
	Open(ctx context.Context, sessionID string) (Attached, error)
	// Page returns the result object of history.page of the attached session: at
	// most 32,768 bytes of compact JSON, which the server copies.
	Page(ctx context.Context, page PageRequest) (result []byte, err error)
	// NewRun prepares a turn of the attached session. It is called with the
	// connection's lock held and does no I/O; an error refuses the turn with
	// execution_failed.
	NewRun(r RunRequest) (Run, error)
	// Close ends MCP servers, then releases writers and leases. It is called
	// once, after the last job has ended; ctx ends with the cleanup wait.
	Close(ctx context.Context) error
}

// Attached describes a completed attachment.
type Attached struct {
	SessionID string
	Durable   bool
	Revision  string
	Notices   []string
	Provider  string // safe to show, or empty
	Model     string // safe to show, or empty
}

// PageRequest asks for one page of the attached session's history. The
// session is the attached one; revision and cursor are as the client sent them.
type PageRequest struct {
	SessionID string
	Revision  string
	Cursor    string // "" begins at the start
}

// RunRequest describes a turn.
type RunRequest struct {
	SessionID string
	RunID     string
	Prompt    string
	Events    *event.Queue
}

// Run is one turn.
type Run interface {
	// Do runs the turn to its end, in a job's goroutine. When it returns, all
	// that the turn has started is over, and every event is in the queue.
	Do(ctx context.Context) event.Finished
	// Answer records a reply to an approval. false: there is no such question
	// (any more). It is called with the connection's lock held and does not block.
	Answer(approvalID string, allow bool) bool
}
