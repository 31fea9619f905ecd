package session

import (
	"context"
	"errors"
	"sync/atomic"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// Handle is an owned session. It holds the writer and the active lock until
// Close. Its methods may be called from any goroutine; they take turns. A fold
// must not call the handle that feeds it.
type Handle struct {
	store          *Store
	fs             vfs.FS // the store's, with its syncs measured
	id, path       string
	writer, active *lease.Lease
	durable        atomic.Bool

	// turn holds a token while a method works; what is below belongs to its
	// holder. A mutex would not let a waiting caller give up.
	turn   chan struct{}
	closed bool

	file     vfs.File // open for appending, nil before the first append
	dev, ino uint64   // of file
	cut      bool     // a tail was cut off and that is not synced: nothing may be written, or a power cut could bring old bytes back in front of it
	unsynced bool     // file holds records that no sync has covered
	newName  bool     // the folder does not surely hold the file's name yet

	print  fingerprint
	stale  bool
	count  int // records that folds were given
	follow []Fold
	meta   Meta
	told   bool // meta has something that the sidecar should have

	work // what telemetry is told of the append under way

	envelope []byte // the middle of every line
	buf      []byte
	records  []Record
}

// lock waits for the handle's turn.
func (h *Handle) lock(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
	default:
		select {
		case h.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if h.closed {
		h.unlock()
		return ErrClosed
	}
	return nil
}

func (h *Handle) unlock() { <-h.turn }

// ID is the session's id.
func (h *Handle) ID() string { return h.id }

// Durable reports whether the file exists, as far as the handle knows. It does
// not wait.
func (h *Handle) Durable() bool { return h.durable.Load() }

// Follow hands f every record that is appended from now on, with the index that
// follows those read. An error of f ends its feeding; the record is stored all
// the same, so f has to remember why.
func (h *Handle) Follow(f Fold) {
	h.turn <- struct{}{}
	defer h.unlock()
	h.follow = append(h.follow, f)
}

// Close syncs what waits for a sync, closes the file and gives both locks back.
// It is safe twice.
func (h *Handle) Close() error {
	h.turn <- struct{}{}
	defer h.unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	var errs []error
	if h.file != nil {
		errs = append(errs, h.syncPending(), h.file.Close())
		h.file = nil
	}
	return errors.Join(append(errs, h.active.Release(), h.writer.Release())...)
}

// feed hands records over and drops folds that refuse.
func (h *Handle) feed(rec Record, at instant) {
	h.meta.add(&rec, at)
	kept := h.follow[:0]
	for _, f := range h.follow {
		if f.Apply(rec) == nil {
			kept = append(kept, f)
		}
	}
	clear(h.follow[len(kept):])
	h.follow = kept
}
