package exchange

import (
	"context"
	"errors"
	"sync"
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
//
// Its timer is not moved for each read, which would wake a thread to wait for
// it anew: when it fires early it looks how long is left.
type watchdog struct {
	cancel   context.CancelCauseFunc
	semantic time.Duration
	deadline time.Time // of the next semantic progress

	mu    sync.Mutex
	timer *time.Timer
	fires time.Time // when the timer does; zero: it does not run
	due   time.Time // of the read that goes on; zero: none does
	cause error     // what a read is cancelled with at due
}

func newWatchdog(cancel context.CancelCauseFunc, semantic time.Duration) *watchdog {
	w := &watchdog{cancel: cancel, semantic: semantic, deadline: time.Now().Add(semantic)}
	w.timer = time.AfterFunc(idleTimeout, w.fired)
	w.timer.Stop()
	return w
}

// progress starts the semantic deadline anew.
func (w *watchdog) progress() { w.deadline = time.Now().Add(w.semantic) }

// arm bounds the read that follows.
func (w *watchdog) arm(state State) {
	now := time.Now()
	wait, cause := idleTimeout, errIdle
	switch state {
	case Terminal:
		wait, cause = lingerTimeout, errLinger
	case Final:
		wait, cause = drainTimeout, errLinger
	default:
		if left := w.deadline.Sub(now); left < wait {
			wait, cause = left, errSemantic
		}
	}
	if wait <= 0 {
		w.cancel(cause)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due, w.cause = now.Add(wait), cause
	if w.fires.IsZero() || w.due.Before(w.fires) {
		w.start(wait)
	}
}

func (w *watchdog) start(wait time.Duration) {
	w.fires = w.due
	w.timer.Reset(wait)
}

// disarm ends the bound of a read.
func (w *watchdog) disarm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = time.Time{}
}

// stop ends all.
func (w *watchdog) stop() {
	w.disarm()
	w.timer.Stop()
}

func (w *watchdog) fired() {
	if cause := w.late(); cause != nil {
		w.cancel(cause)
	}
}

// late returns why the read that goes on has taken too long, or nil after
// having seen to it that the timer fires when it will have.
func (w *watchdog) late() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fires = time.Time{}
	if w.due.IsZero() {
		return nil
	}
	if left := time.Until(w.due); left > 0 {
		w.start(left)
		return nil
	}
	return w.cause
}
