package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"math"

	"magicode/internal/vfs"
	"magicode/telemetry"
)

// readChunk is one read of a session file; longer lines make the buffer grow.
const readChunk = 256 << 10

// ReadInfo is what a pass over the file found.
type ReadInfo struct {
	Lines     int
	Bytes     int64
	Records   int
	Torn      bool     // the last line was cut off and is skipped (decision 16)
	Cwds      []string // distinct non-empty ones, in order of appearance
	ForeignID bool     // a record names another session
}

// pass is one streaming read. Memory is the buffer, of the longest line at most.
type pass struct {
	id    string
	folds []Fold
	liner liner
	meta  Meta
	info  ReadInfo
	print fingerprint

	stop   int   // folds get the records before this index; the cutoff is where it begins
	cutoff int64 // bytes before record stop
	base   int64 // bytes of the lines before the buffer

	lastCwd string
	bad     int   // number of the first malformed line, 0 for none
	foldErr error // of the first fold that refused; none is called after it
}

// read runs one pass over f. The errors are ErrLimit, ErrInvalid, the first
// error of a fold, or the context's cause, in this order of precedence.
func (h *Handle) read(ctx context.Context, f vfs.File, size int64, folds []Fold) (*pass, error) {
	return h.readUpTo(ctx, f, size, math.MaxInt, folds)
}

// readUpTo reads all, but hands folds only the records before stop.
func (h *Handle) readUpTo(ctx context.Context, f vfs.File, size int64, stop int, folds []Fold) (*pass, error) {
	ctx, span := h.store.o.Tel.Begin(ctx, telemetry.SpanHistoryRead)
	p := &pass{id: h.id, folds: folds, stop: stop}
	defer func() {
		span.Int(telemetry.KeyHistoryBytes, p.info.Bytes)
		span.Int(telemetry.KeyHistoryLines, int64(p.info.Lines))
		span.End()
	}()
	p.print.begin(h.store.seed)
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

// stream reads chunks and takes the whole lines out of them.
func (p *pass) stream(ctx context.Context, f io.Reader) error {
	buf := make([]byte, readChunk)
	have := 0
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		n, err := f.Read(buf[have:])
		p.info.Bytes += int64(n)
		if p.info.Bytes > MaxBytes {
			return fmt.Errorf("more than %d bytes: %w", MaxBytes, ErrLimit)
		}
		fresh := have
		have += n
		used := p.lines(buf[:have], fresh)
		have = copy(buf, buf[used:have])
		if errors.Is(err, io.EOF) {
			p.end(buf[:have])
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
}

// lines takes the complete lines of data; before fresh there is no line end.
func (p *pass) lines(data []byte, fresh int) (used int) {
	for {
		i := bytes.IndexByte(data[fresh:], '\n')
		if i < 0 {
			break
		}
		end := fresh + i
		p.info.Lines++
		if p.bad == 0 && p.info.Lines <= MaxLines {
			if p.line(data[used:end], p.base+int64(used)) != nil {
				p.bad = p.info.Lines
			}
		}
		used, fresh = end+1, end+1
	}
	p.print.extend(data[:used])
	p.base += int64(used)
	return used
}

// line takes the line that begins at byte at.
func (p *pass) line(line []byte, at int64) error {
	size := len(line) + 1
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	rec, err := p.liner.parse(line)
	if err != nil {
		return err
	}
	if rec.SessionID != p.id {
		p.info.ForeignID = true
		return nil
	}
	if rec.Cwd != "" && rec.Cwd != p.lastCwd {
		p.place(rec.Cwd)
	}
	rec.Index = p.info.Records
	p.info.Records++
	if rec.Index < p.stop {
		p.cutoff = at + int64(size)
	}
	p.meta.add(rec, p.liner.at)
	for _, f := range p.folds {
		if p.foldErr != nil || rec.Index >= p.stop {
			break
		}
		p.foldErr = f.Apply(rec)
	}
	return nil
}

func (p *pass) place(cwd string) {
	p.lastCwd = cwd
	for _, c := range p.info.Cwds {
		if c == cwd {
			return
		}
	}
	p.info.Cwds = append(p.info.Cwds, cwd)
}

// end takes what stands behind the last line end: nothing, a record that lacks
// only its line end, or the torn rest of one.
func (p *pass) end(tail []byte) {
	if len(tail) == 0 {
		return
	}
	p.info.Lines++
	if p.bad > 0 || p.info.Lines > MaxLines {
		return
	}
	whole := unpadded(tail)
	switch err := p.line(whole, p.base); {
	case err == nil:
		p.print.extend(whole)
		p.print.open = true
		p.cutoff = min(p.cutoff, p.print.end)
		if len(whole) < len(tail) {
			p.torn(tail[len(whole):])
		}
	case errors.Is(err, errCut):
		p.torn(tail)
	default:
		p.bad = p.info.Lines
	}
}

func (p *pass) torn(tail []byte) {
	p.info.Torn = true
	p.print.tear(tail)
}

// first is the read of Open.
func (h *Handle) first(ctx context.Context, folds []Fold) (ReadInfo, error) {
	p, err := h.passOver(ctx, folds)
	if err != nil {
		return p.info, err
	}
	h.adopt(p)
	if err := h.unchanged(ctx); err != nil {
		if _, gone := h.store.o.FS.Lstat(h.path); errors.Is(gone, fs.ErrNotExist) {
			return p.info, ErrMissing
		}
		return p.info, err
	}
	return p.info, nil
}

// passOver opens the file and reads it once. It never returns a nil pass.
func (h *Handle) passOver(ctx context.Context, folds []Fold) (*pass, error) {
	f, info, err := h.store.openSafe(h.path, vfs.Read)
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

// sum hashes on without changing h.
func sum(h *maphash.Hash, tail []byte) uint64 {
	c := *h
	_, _ = c.Write(tail)
	return c.Sum64()
}
