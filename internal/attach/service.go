package attach

import (
	"context"
	"errors"
	"fmt"

	"magicode/internal/history"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Options is what a Service works with.
type Options struct {
	Store   *session.Store
	FS      vfs.FS
	Cwd     string             // the child's folder, canonical
	Startup provider.Selection // what a session without a saved choice runs with
	Models  Models
	NewID   func() string // fresh opaque ids: revisions, messages
	Tel     telemetry.Tel
}

// Service holds the attachment of one child. It is not safe for concurrent
// use: one operation or one turn at a time.
type Service struct {
	opts    Options
	store   store
	current *Attachment
}

// New returns a service without an attachment.
func New(o Options) *Service { return &Service{opts: o, store: sessions{o.Store}} }

// Current is the attachment, nil before the first create or open.
func (s *Service) Current() *Attachment { return s.current }

// Create attaches a new session. Nothing is written; the file appears with the
// first record. The attachment before it is released.
func (s *Service) Create(ctx context.Context) (*Attachment, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	h, err := s.store.create(ctx)
	if err != nil {
		return nil, err
	}
	a := s.attachment(h, s.follower())
	h.Follow(a.follower)
	if err := a.snap(ctx, "create"); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	s.replace(a)
	return a, nil
}

// Open attaches exactly this session. On failure the attachment is what it was.
func (s *Service) Open(ctx context.Context, id string) (*Attachment, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if c := s.current; c != nil && c.ID() == id {
		return s.reopen(ctx, c)
	}
	f := s.follower()
	h, info, err := s.store.open(ctx, id, f)
	if err != nil {
		return nil, err
	}
	a, err := s.admit(ctx, h, f, info.Torn)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.Follow(f)
	s.replace(a)
	return a, nil
}

// reopen makes a new attachment on the handle of the old one. What the folds
// hold is good as long as the file is unchanged; otherwise it is read again.
func (s *Service) reopen(ctx context.Context, old *Attachment) (*Attachment, error) {
	f, torn := old.follower, false // a torn tail is known to the fold
	if err := old.Check(ctx); err != nil {
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		if f, torn, err = s.reload(ctx, old.handle); err != nil {
			return nil, err
		}
	}
	f.state().places.recheck()
	a, err := s.admit(ctx, old.handle, f, torn)
	if err != nil {
		return nil, err
	}
	old.follower.swap(f.state())
	a.follower = old.follower // the handle goes on feeding the one it knows
	s.current = a
	return a, nil
}

// reload reads a file that is not what its handle knew. Nothing follows the new
// folds yet.
func (s *Service) reload(ctx context.Context, h handle) (f *follower, torn bool, err error) {
	f = s.follower()
	info, err := h.Reload(ctx, f)
	return f, info.Torn, err
}

// attachment is the bare one, with the selection of the startup.
func (s *Service) attachment(h handle, f *follower) *Attachment {
	return &Attachment{service: s, handle: h, follower: f, selection: s.opts.Startup, notices: []string{}}
}

// admit judges what was read, in the order of storage.md 8.1, and makes the
// attachment. It does not release the handle.
func (s *Service) admit(ctx context.Context, h handle, f *follower, torn bool) (*Attachment, error) {
	a := s.attachment(h, f)
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	places := &f.state().places
	if places.mismatch {
		return nil, ErrCwdMismatch
	}
	facts, err := f.facts()
	if err != nil {
		return nil, err
	}
	if !places.any && h.Durable() {
		a.notices = append(a.notices, NoticeCwdUnverified)
	}
	if facts.hasSaved {
		available := false
		if a.selection, available = restore(ctx, facts.saved, s.opts.Startup, s.opts.Models); !available {
			a.notices = append(a.notices, NoticeSelectionUnavailable)
		}
	}
	if torn {
		f.setTorn()
	}
	if err := a.snap(ctx, "open"); err != nil {
		return nil, err
	}
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if err := h.Unchanged(ctx); err != nil {
		return nil, fmt.Errorf("compare session again: %w", err)
	}
	return a, nil
}

// replace makes a the attachment and releases the one before. The new one
// stands even if that fails: the old locks die with the process at the latest.
func (s *Service) replace(a *Attachment) {
	old := s.current
	s.current = a
	if old != nil {
		_ = old.handle.Close()
	}
}

// Page appends the result object of one page of the attached session's history
// to dst: at most 32,768 bytes of compact JSON. The error wraps ErrMissing,
// ErrOtherSession, ErrStale or ErrCursor.
func (s *Service) Page(ctx context.Context, dst []byte, id, revision, cursor string) ([]byte, error) {
	a := s.current
	switch {
	case a == nil:
		return nil, ErrMissing
	case a.ID() != id:
		return nil, ErrOtherSession
	}
	ctx, span := s.opts.Tel.Begin(ctx, telemetry.SpanHistoryPage)
	defer span.End()
	dst, err := a.page(ctx, span, dst, id, revision, cursor)
	paged(span, err)
	return dst, err
}

// paged tells telemetry why a page was not served.
func paged(span telemetry.Span, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrStale):
		span.Fail(telemetry.CodeOf("stale_revision"))
	default:
		span.Fail(0)
	}
}

// page serves a page that is still what the file says. Looking at the file
// again is most of its time.
func (a *Attachment) page(ctx context.Context, span telemetry.Span, dst []byte, id, revision, cursor string) ([]byte, error) {
	page, err := a.history.Locate(cursor)
	if err != nil {
		return nil, fmt.Errorf("locate page: %w", mapped(err))
	}
	if revision != a.history.Revision() {
		return nil, ErrStale
	}
	if err := a.Check(ctx); err != nil {
		if cerr := canceled(ctx); cerr != nil {
			return nil, cerr
		}
		return nil, ErrStale
	}
	before := len(dst)
	dst = a.history.AppendPage(dst, id, page)
	span.Int(telemetry.KeyHistoryPageIndex, int64(page))
	span.Int(telemetry.KeyHistoryEntries, int64(a.history.Entries(page)))
	span.Int(telemetry.KeyHistoryBytes, int64(len(dst)-before))
	return dst, nil
}

// Close releases the attachment. It is safe twice.
func (s *Service) Close() error {
	a := s.current
	s.current = nil
	if a == nil {
		return nil
	}
	return a.handle.Close()
}

func (s *Service) follower() *follower {
	return &follower{now: &state{history: history.New(s.opts.NewID), places: places{fs: s.opts.FS, home: s.opts.Cwd}}}
}
