package exchange

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Limits of a wait: providers.md 7.2.
const (
	idleTimeout      = 120 * time.Second
	errorBodyTimeout = 5 * time.Second
	// DefaultSemanticTimeout is used when a request names none.
	DefaultSemanticTimeout = 60 * time.Second
	// lingerTimeout: a response that has said that it is complete may still tell
	// its usage; a server that then neither speaks nor closes is left.
	lingerTimeout = 5 * time.Second
	// drainTimeout: after the last event only the end of the body is missing;
	// a short wait for it lets the connection be used again.
	drainTimeout = 20 * time.Millisecond
)

var (
	errIdle     = errors.New("provider stream idle timeout: no bytes for 120 seconds")
	errSemantic = errors.New("provider stream no semantic progress before timeout")
	errLinger   = errors.New("provider stream complete but left open")
)

// watchdog cancels a read that takes too long. Only the time inside reads
// counts: whoever receives the events may take as long as it wants.
type watchdog struct {
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	cause    atomic.Pointer[error]
	semantic time.Duration
	deadline time.Time // of the next semantic progress
}

func newWatchdog(cancel context.CancelCauseFunc, semantic time.Duration) *watchdog {
	w := &watchdog{cancel: cancel, semantic: semantic, deadline: time.Now().Add(semantic)}
	w.timer = time.AfterFunc(idleTimeout, func() { w.cancel(*w.cause.Load()) })
	w.timer.Stop()
	return w
}

// progress starts the semantic deadline anew.
func (w *watchdog) progress() { w.deadline = time.Now().Add(w.semantic) }

// arm bounds the read that follows.
func (w *watchdog) arm(state State) {
	wait, cause := idleTimeout, &errIdle
	switch state {
	case Terminal:
		wait, cause = lingerTimeout, &errLinger
	case Final:
		wait, cause = drainTimeout, &errLinger
	default:
		if left := time.Until(w.deadline); left < wait {
			wait, cause = left, &errSemantic
		}
	}
	w.cause.Store(cause)
	if wait <= 0 {
		w.cancel(*cause)
		return
	}
	w.timer.Reset(wait)
}

// disarm ends the bound of a read.
func (w *watchdog) disarm() { w.timer.Stop() }
