package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"magicode/internal/session"
)

// recorder writes a run's records in order. Records that nothing waits for are
// collected and go out with the next write, so that a step costs one write and,
// where its record must be durable, one sync (decision 17).
type recorder struct {
	dst Recorder
	ctx context.Context // never cancelled: a record outlives the wish to stop

	mu     sync.Mutex
	queued []session.Event
	begun  bool // the input is stored: from here on a loss degrades the run
	lost   error
	told   bool
}

// later queues records for the next write.
func (r *recorder) later(events ...session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queued = append(r.queued, events...)
}

// write appends everything queued and then events, in one write. Its error says
// that at least one of these records is not in the file as promised.
func (r *recorder) write(d session.Durability, events ...session.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch := append(r.queued, events...)
	r.queued = nil
	if len(batch) == 0 {
		return nil
	}
	outcome, err := r.dst.Append(r.ctx, d, batch...)
	if outcome.OK() && err == nil {
		return nil
	}
	err = fmt.Errorf("append %s: outcome %d: %w", batch[len(batch)-1].Kind, outcome, errors.Join(err, errNotStored))
	r.degrade(err)
	return err
}

var errNotStored = errors.New("record not stored")

// degrade notes the first loss and tries to mark the turn incomplete for other
// readers (runner.md 16.3). Holds mu.
func (r *recorder) degrade(err error) {
	if !r.begun || r.lost != nil {
		return
	}
	r.lost = err
	mark := session.Event{Kind: session.KindTurnStatus, Payload: map[string]any{"status": "incomplete"}}
	_, _ = r.dst.Append(r.ctx, session.Optional, mark)
}

func (r *recorder) persisted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
}

func (r *recorder) degraded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost != nil
}

// takeLoss returns, once, what the user is told about the first loss.
func (r *recorder) takeLoss() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil || r.told {
		return ""
	}
	r.told = true
	return "Part of this turn could not be written to the session file; the history of the turn is incomplete."
}
