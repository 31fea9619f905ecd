package session

import (
	"context"
	"errors"
	"fmt"

	"magicode/internal/lease"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

const maxKeptBuffer = 1 << 20

// Append stores events as consecutive lines, with one write (storage.md 5.4).
// Required is synced before it returns, with everything written before; the
// others wait for the next sync (decision 17). ctx counts while the locks are
// waited for, not once writing begins. A torn tail is moved away first and a
// diagnostic record tells of it (decision 16).
//
// The error is nil exactly when the outcome is OK, and then the following folds
// have the records. It wraps ErrInvalid for an unsafe file or folder, ErrBusy
// when the append lock stayed taken, ErrBudget and ErrPayload; and whatever the
// file system said, such as ENOSPC.
func (h *Handle) Append(ctx context.Context, d Durability, events ...Event) (Outcome, error) {
	ctx, span := h.store.o.Tel.Begin(ctx, telemetry.SpanSessionAppend)
	defer span.End()
	if err := h.lock(ctx); err != nil {
		work{span: span}.ended(classOf(events), NotWritten)
		return NotWritten, fmt.Errorf("append: %w", err)
	}
	defer h.unlock()
	h.work = work{span: span}
	outcome, err := h.append(ctx, d, events)
	h.ended(classOf(events), outcome)
	h.work = work{}
	if err != nil {
		return outcome, fmt.Errorf("append: %w", err)
	}
	return outcome, nil
}

func (h *Handle) append(ctx context.Context, d Durability, events []Event) (Outcome, error) {
	if len(events) == 0 {
		return Durable, nil
	}
	if err := h.encode(events); err != nil {
		return NotWritten, err
	}
	if err := h.store.checkRoot(); err != nil {
		return NotWritten, err
	}
	lock, err := h.appendLock(ctx)
	if err != nil {
		return NotWritten, err
	}
	outcome, err := h.commit(ctx, d, events)
	// The record counts, not the lock file: one that cannot be removed is known
	// to the lease manager and hinders nobody in this process.
	_ = lock.Release()
	if err != nil {
		return outcome, err
	}
	h.deliver()
	return outcome, nil
}

func (h *Handle) appendLock(ctx context.Context) (*lease.Lease, error) {
	began := started(h.store.o.Tel)
	lock, err := h.store.o.Leases.AcquireBeside(ctx, h.path, h.active, lease.MaxWait)
	h.lockWaited(began)
	switch {
	case err == nil:
		return lock, nil
	case errors.Is(err, lease.ErrBusy):
		return nil, fmt.Errorf("%w: %v", ErrBusy, err)
	}
	return nil, err
}

// commit writes the encoded lines under the append lock.
func (h *Handle) commit(ctx context.Context, d Durability, events []Event) (Outcome, error) {
	created, err := h.place(ctx)
	if err != nil {
		return NotWritten, err
	}
	if err := h.mend(events); err != nil {
		return NotWritten, err
	}
	if err := h.budget(events); err != nil {
		return NotWritten, err
	}
	outcome, err := h.write(d, created)
	if outcome == Uncertain {
		h.stale = true // the folds and the file may differ
	}
	return outcome, err
}

// budget holds nested records of scripts against storage.md 5.4, step 5.
func (h *Handle) budget(events []Event) error {
	for _, ev := range events {
		switch ev.Kind {
		case KindCodeModeToolCall, KindCodeModeToolResult, KindCodeModeContext, KindCodeModeWarning, KindCodeModeAssessment:
			if len(h.buf) > maxNestedBatch || h.print.size+int64(len(h.buf)) > maxNestedFile {
				return ErrBudget
			}
		}
	}
	return nil
}

// write does steps 6 and 7.
func (h *Handle) write(d Durability, created bool) (Outcome, error) {
	base, before := h.print.size, h.unsynced
	lines := h.buf[1:]
	if h.print.open {
		lines = h.buf // a line end for the record before
	}
	h.size = len(lines)
	err := vfs.WriteAll(h.file, lines)
	wrote := err == nil
	h.unsynced = h.unsynced || wrote
	if wrote && d == Required {
		err = h.syncData()
	}
	if err != nil {
		return h.rollback(base, created, before && wrote), err
	}
	h.print.extend(lines)
	h.print.open = false
	h.durable.Store(true)
	h.restat()
	if d == Required {
		if err := h.syncName(); err != nil {
			return Uncertain, err
		}
	}
	return Durable, nil
}

// restat notes the file as our own write left it. Anything unexpected makes
// the next look compare the content.
func (h *Handle) restat() {
	info, err := h.file.Stat()
	if err != nil || info.Size != h.print.size {
		info = vfs.Info{}
	}
	h.print.seen(info, now())
}

// rollback takes a failed write back. doubt says that older records were
// waiting for the sync that failed: a system may have thrown their pages away,
// and a later success of it proves nothing.
func (h *Handle) rollback(base int64, created, doubt bool) Outcome {
	info, err := h.file.Stat()
	if err == nil && info.Size == base && !doubt {
		h.forget(created)
		return NotWritten
	}
	if errors.Join(h.file.Truncate(base), h.file.Sync()) != nil || doubt {
		h.restat()
		return Uncertain
	}
	h.unsynced = false
	h.restat()
	h.forget(created)
	return RolledBack
}

// forget removes a file that was made for a write that came to nothing.
func (h *Handle) forget(created bool) {
	if !created {
		return
	}
	_ = h.file.Close()
	h.file = nil
	if h.fs.Remove(h.path) == nil {
		h.print, h.newName = fingerprint{}, false
		h.durable.Store(false)
	}
}

// deliver hands the stored records to the folds.
func (h *Handle) deliver() {
	defer h.trim()
	for i := range h.records {
		rec := &h.records[i]
		rec.Index = h.count
		h.count++
		switch rec.Kind {
		case KindSessionTitle, KindUserInput, KindAssistantOutput, KindTurnStatus:
			h.told = true
		}
		at, _ := parseTimestamp([]byte(rec.Timestamp))
		h.feed(*rec, at)
	}
}

// trim gives an unusually large buffer back.
func (h *Handle) trim() {
	if cap(h.buf) > maxKeptBuffer {
		h.buf, h.records = nil, nil
	}
}

// Sync waits until everything appended so far is on disk. Without anything
// waiting it does nothing. The outcome is Durable or Uncertain.
func (h *Handle) Sync(ctx context.Context) (Outcome, error) {
	if err := h.lock(ctx); err != nil {
		return Uncertain, fmt.Errorf("sync session: %w", err)
	}
	defer h.unlock()
	if err := h.syncPending(); err != nil {
		return Uncertain, fmt.Errorf("sync session: %w", err)
	}
	return Durable, nil
}

func (h *Handle) syncPending() error {
	if h.file == nil || !h.unsynced && !h.newName {
		return nil
	}
	if h.unsynced {
		if err := h.syncData(); err != nil {
			return err
		}
	}
	return h.syncName()
}

func (h *Handle) syncData() error {
	if err := h.file.Sync(); err != nil {
		return err
	}
	h.unsynced = false
	return nil
}

func (h *Handle) syncName() error {
	if !h.newName {
		return nil
	}
	if err := h.fs.SyncDir(h.store.o.Dir); err != nil {
		return err
	}
	h.newName = false
	return nil
}
