package runner

import (
	"context"
	"errors"
	"time"

	"magicode/internal/hook"
	"magicode/internal/protect/injection"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/telemetry"
)

// Errors that end a run. Everything else that Run returns is a failed
// execution, or the cause of the context.
var (
	// ErrInputAppend: the required record of the user's input was not stored.
	ErrInputAppend = errors.New("required input append failed")
	// ErrContentLimit: a bound of protocol "Bounds" on content, segments or activities was passed.
	ErrContentLimit = errors.New("content limit reached")
	// ErrDenied: an approval was denied or expired.
	ErrDenied = errors.New("the command was not approved")
	// ErrHook: a hook failed whose policy is to end the turn.
	ErrHook = errors.New("a hook failed")
	// ErrRecord: a record that must precede an effect was not stored.
	ErrRecord = errors.New("required record append failed")
	// ErrNoProgress: the same call gave the same result too often (decision 24).
	ErrNoProgress = errors.New("the same call gave the same result twenty times")
	// ErrTooLarge: the request does not fit the context budget.
	ErrTooLarge = errors.New("the conversation does not fit the model's context")
	// ErrBrokenCalls: three calls in a row had arguments that are no JSON (decision 8).
	ErrBrokenCalls = errors.New("three calls in a row had arguments that are not JSON")
)

// Recorder appends to the session's log. *session.Handle is one.
type Recorder interface {
	Append(ctx context.Context, d session.Durability, events ...session.Event) (session.Outcome, error)
}

// Tools runs calls. *tool.Registry is one.
type Tools interface {
	Dispatch(ctx context.Context, env tool.Env, call tool.Call) tool.Result
}

// Verdict is what a guard decided about one call.
type Verdict struct {
	Allowed  bool
	Unjudged bool           // it is denied because nobody could judge it
	Metadata map[string]any // tools.md 7.2 "bash_protection"; nil when it was not consulted
}

// Guard decides, before a call runs, whether it may: it assesses the call and
// asks the user where the assessment says so. warn tells the user at once of an
// assessment that failed. An error ends the run.
type Guard interface {
	Check(ctx context.Context, env tool.Env, call tool.Call, warn func(text string)) (Verdict, error)
}

// Limits bound what one run may produce (protocol, "Bounds").
type Limits struct {
	ContentBytes    int
	Segments        int
	Activities      int
	ActivityIDBytes int
}

// Config is all that a run needs. It is not changed by the run.
type Config struct {
	Recorder Recorder
	Provider provider.Provider
	Tools    Tools
	Guard    Guard     // nil: every call may run
	Hooks    *hook.Set // nil: none
	Script   *Script   // Code Mode; nil: it is not offered
	// Diagnose tells what is wrong with files that a tool has changed (canonical
	// paths in the workspace root), soon: text for its result, "" for nothing. Nil: none.
	Diagnose func(ctx context.Context, root string, changed []string) string
	// Screen judges results before the model sees them; nil: none.
	Screen *injection.Screen
	Sink   Sink
	Env    tool.Env
	Limits Limits

	// Request is the template of every request: model, level, keys, tools,
	// timeouts. Its Items are ignored.
	Request provider.Request
	System  string
	// History is the replayed session, without this turn's input.
	History []provider.Item
	// InputFields go into the record of the input, beside its text and origin;
	// nil leaves a field out.
	InputFields map[string]any
	// HasCallID reports whether the session has used a call id.
	HasCallID func(id string) bool
	Budget    Budget
	// Compaction is how a context that is too large is replaced by a summary;
	// nil: it is not.
	Compaction *Compaction
	// Background is work that belongs to the turn but not to its answer (a
	// title). It starts when the input is stored; the run ends after it.
	Background func(ctx context.Context)

	RunID string
	NewID func() string
	Tel   telemetry.Tel
}

// Result is what became of a run.
type Result struct {
	Persisted bool // the user's input is durable
	Degraded  bool // a later record was lost
	Err       error
}

// chunkBytes and chunkDelay bound how far stored text lags behind sent text
// (decision 15).
const (
	// maxDeltaBytes bounds one delta (protocol, "Bounds": live events).
	maxDeltaBytes = 4000

	chunkBytes = 4096
	chunkDelay = 900 * time.Millisecond // and the rest of a second to store it
	// retryDelay is how soon text that a full channel refused is offered again
	// when no further text comes.
	retryDelay = 25 * time.Millisecond
)
