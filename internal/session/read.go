package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"magicode/internal/vfs"
	"magicode/telemetry"
)

// ReadInfo is what a pass over the file found.
type ReadInfo struct {
	Lines     int
	Bytes     int64
	Records   int
	Torn      bool     // the last line was cut off and is skipped (decision 16)
	Cwds      []string // distinct non-empty ones, in order of appearance
	ForeignID bool     // a record names another session
}

// read runs one pass over f. The errors are ErrLimit, ErrInvalid, the first
// error of a fold, or the context's cause, in this order of precedence.
func (h *Handle) read(ctx context.Context, f vfs.File, size int64, folds []Fold) (*pass, error) {
	return h.readUpTo(ctx, f, size, math.MaxInt, folds)
}

// readUpTo reads all, but hands folds only the records before stop.
func (h *Handle) readUpTo(ctx context.Context, f vfs.File, size int64, stop int, folds []Fold) (*pass, error) {
	ctx, span := h.store.o.Tel.Begin(ctx, telemetry.SpanHistoryRead)
	p := &pass{id: h.id, seed: h.store.seed, folds: folds, stop: stop, size: size}
	defer func() {
		span.Int(telemetry.KeyHistoryBytes, p.info.Bytes)
		span.Int(telemetry.KeyHistoryLines, int64(p.info.Lines))
		span.End()
	}()
	if size > MaxBytes {
		return p, fmt.Errorf("%d bytes: %w", size, ErrLimit)
	}
	if err := p.stream(ctx, f); err != nil {
		return p, err
	}
	switch {
	case p.info.Lines > MaxLines:
		return p, fmt.Errorf("%d lines: %w", p.info.Lines, ErrLimit)
	case p.bad > 0:
		return p, fmt.Errorf("line %d is malformed: %w", p.bad, ErrInvalid)
	case p.info.ForeignID:
		return p, fmt.Errorf("a record of another session: %w", ErrInvalid)
	}
	return p, p.foldErr
}

// first is the read of Open. What a stat cannot tell is left to the caller's
// Unchanged: a file that was written a moment ago is not read a third time.
func (h *Handle) first(ctx context.Context, folds []Fold) (ReadInfo, error) {
	p, err := h.passOver(ctx, folds)
	if err != nil {
		return p.info, err
	}
	h.adopt(p)
	info, err := h.fs.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.info, ErrMissing
	case err == nil && safe(info) == nil && h.print.looksSame(info):
		return p.info, nil
	}
	return p.info, h.unchanged(ctx)
}

// passOver opens the file and reads it once. It never returns a nil pass.
func (h *Handle) passOver(ctx context.Context, folds []Fold) (*pass, error) {
	f, info, err := openSafe(h.fs, h.path, vfs.Read)
	if err != nil {
		return &pass{}, absent(err)
	}
	at := now()
	p, err := h.read(ctx, f, info.Size, folds)
	if err = errors.Join(err, f.Close()); err != nil {
		return p, err
	}
	p.print.seen(info, at)
	return p, nil
}

// adopt makes what a pass read the state of the handle.
func (h *Handle) adopt(p *pass) {
	h.print, h.meta, h.count = p.print, p.meta, p.info.Records
	h.durable.Store(true)
}

// Read makes another pass over the file, for example to build the model's
// conversation. ErrStale says that the file is not what this handle has read
// and appended; it is sticky, as in Unchanged. A session without a file gives
// no records. The other errors are those of Open.
func (h *Handle) Read(ctx context.Context, folds ...Fold) (ReadInfo, error) {
	if err := h.lock(ctx); err != nil {
		return ReadInfo{}, err
	}
	defer h.unlock()
	if h.stale {
		return ReadInfo{}, fmt.Errorf("read session: %w", ErrStale)
	}
	p, err := h.passOver(ctx, folds)
	if errors.Is(err, ErrMissing) && !h.print.exists {
		return ReadInfo{}, nil
	}
	if err != nil {
		return p.info, fmt.Errorf("read session: %w", err)
	}
	if !h.print.equal(&p.print) {
		h.stale = true
		return p.info, fmt.Errorf("read session: %w", ErrStale)
	}
	h.print.seen(p.print.stat, p.print.at)
	return p.info, nil
}

// Reload reads the file as it is now and goes on from there: afterwards the
// handle is not stale. Folds that follow go on following, with the indexes of
// the new content. On an error nothing has changed.
func (h *Handle) Reload(ctx context.Context, folds ...Fold) (ReadInfo, error) {
	if err := h.lock(ctx); err != nil {
		return ReadInfo{}, err
	}
	defer h.unlock()
	p, err := h.passOver(ctx, folds)
	switch {
	case errors.Is(err, ErrMissing) && !h.print.exists:
		h.stale = false
		return ReadInfo{}, nil
	case err != nil:
		return p.info, fmt.Errorf("read session: %w", err)
	}
	h.adopt(p)
	h.stale = false
	return p.info, nil
}
