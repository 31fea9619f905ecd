package session

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"time"

	"magicode/internal/vfs"
	"magicode/telemetry"
)

// settle is how far behind a verification both file times must lie before
// equal times mean equal content: file clocks are coarse (decision 28).
const settle = 100 * time.Millisecond

func now() time.Time { return time.Now() }

// fingerprint is what the handle knows of the file's content, and when and on
// which file it was last seen to be so.
type fingerprint struct {
	exists bool
	whole  digest // of the whole records, the first end bytes
	all    digest // of the file, where its tail is torn
	end    int64  // bytes of whole records
	size   int64  // bytes of the file; more than end when its tail is torn
	open   bool   // the last record lacks its line end

	stat vfs.Info // zero: look at the content before trusting it
	at   time.Time
}

func (p *fingerprint) begin(seed maphash.Seed) {
	*p = fingerprint{exists: true}
	p.whole.begin(seed)
}

func (p *fingerprint) extend(b []byte) {
	p.whole.write(b)
	p.end += int64(len(b))
	p.size = p.end
}

func (p *fingerprint) tear(tail []byte) {
	p.all = p.whole
	p.all.write(tail)
	p.size = p.end + int64(len(tail))
}

// content is the digest of the file.
func (p *fingerprint) content() *digest {
	if p.size > p.end {
		return &p.all
	}
	return &p.whole
}

func (p *fingerprint) seen(info vfs.Info, at time.Time) { p.stat, p.at = info, at }

// equal compares content.
func (p *fingerprint) equal(o *fingerprint) bool {
	return p.exists && o.exists && p.size == o.size && p.content().sum() == o.content().sum()
}

// looksSame reports whether a stat shows the file as it was last seen.
func (p *fingerprint) looksSame(info vfs.Info) bool {
	s := &p.stat
	return p.exists && s.Ino == info.Ino && s.Dev == info.Dev && s.Size == info.Size &&
		s.Mtime.Equal(info.Mtime) && s.Ctime.Equal(info.Ctime)
}

func (p *fingerprint) settled() bool {
	limit := p.at.Add(-settle)
	return !p.stat.Mtime.After(limit) && !p.stat.Ctime.After(limit)
}

// Unchanged is nil while the file holds exactly what was read and appended
// through this handle, or does not exist as it did not before. It reads the
// file only where its stat cannot tell (decision 28). Any other error than the
// context's cause is ErrStale, and stays so until Reload.
func (h *Handle) Unchanged(ctx context.Context) error {
	if err := h.lock(ctx); err != nil {
		return err
	}
	defer h.unlock()
	return h.unchanged(ctx)
}

func (h *Handle) unchanged(ctx context.Context) error {
	if h.stale {
		return ErrStale
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	info, err := h.fs.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !h.print.exists:
		return nil
	case err != nil:
		return h.spoil(err)
	case !h.print.exists:
		return h.spoil(errors.New("the file appeared"))
	}
	if err := safe(info); err != nil {
		return h.spoil(err)
	}
	if h.print.looksSame(info) && h.print.settled() {
		return nil
	}
	return h.verify(ctx)
}

// verify compares the content.
func (h *Handle) verify(ctx context.Context) error {
	ctx, span := h.store.o.Tel.Begin(ctx, telemetry.SpanHistoryFingerprint)
	defer span.End()
	span.Int(telemetry.KeyHistoryBytes, h.print.size)
	at := now()
	f, info, err := openSafe(h.fs, h.path, vfs.Read)
	if err != nil {
		return h.spoil(err)
	}
	same := info.Size == h.print.size
	if same {
		same, err = h.print.content().equals(ctx, f)
	}
	err = errors.Join(err, f.Close())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return h.spoil(err)
	case !same:
		return h.spoil(errors.New("content differs"))
	}
	h.print.seen(info, at)
	return nil
}

func (h *Handle) spoil(why error) error {
	h.stale = true
	return fmt.Errorf("%w: %v", ErrStale, why)
}
