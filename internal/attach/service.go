package attach

import (
	"context"
	"errors"
	"fmt"

	"magicode/internal/history"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/vfs"
)

// Options is what a Service works with.
type Options struct {
	Store   Store
	FS      vfs.FS
	Cwd     string             // the child's folder, canonical
	Startup provider.Selection // what a session without a saved choice runs with
	Models  Models
	NewID   func() string // fresh opaque ids: sessions, revisions, messages
}

// Store makes handles on session files. session.Store is the one that counts.
type Store interface {
	// Create takes the locks of a new session and creates no file.
	Create(ctx context.Context, id string, fold session.Fold) (Handle, error)
	// Open takes the locks of an existing session and feeds all its records to
	// fold, and from then on every record that is appended.
	Open(ctx context.Context, id string, fold session.Fold) (h Handle, torn bool, err error)
}

// Handle is an owned session file.
type Handle interface {
	// Read feeds all records of the file as it is now to fold. The handle goes
	// on from what it read; which folds it feeds does not change.
	Read(ctx context.Context, fold session.Fold) (torn bool, err error)
	// Unchanged is nil when the file still holds what was read and appended
	// through this handle, or still does not exist.
	Unchanged(ctx context.Context) error
	// Durable reports whether the file exists, as far as the handle knows.
	Durable() bool
	// Close releases the locks. It is safe twice.
	Close() error
}

// Service holds the attachment of one child. It is not safe for concurrent
// use: one operation or one turn at a time.
type Service struct {
	opts    Options
	current *Attachment
}

// New returns a service without an attachment.
func New(o Options) *Service { return &Service{opts: o} }

// Current is the attachment, nil before the first create or open.
func (s *Service) Current() *Attachment { return s.current }

// Create attaches a new session. Nothing is written; the file appears with the
// first record. The attachment before it is released.
func (s *Service) Create(ctx context.Context) (*Attachment, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	id := s.opts.NewID()
	f := s.follower()
	h, err := s.opts.Store.Create(ctx, id, f)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", mapped(err))
	}
	a := &Attachment{service: s, id: id, handle: h, follower: f, selection: s.opts.Startup, notices: []string{}}
	if err := a.snap(); err != nil {
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
	if c := s.current; c != nil && c.id == id {
		return s.reopen(ctx, c)
	}
	f := s.follower()
	h, torn, err := s.opts.Store.Open(ctx, id, f)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", mapped(err))
	}
	a, err := s.admit(ctx, id, h, f, torn)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
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
		f = s.follower()
		if torn, err = old.handle.Read(ctx, f); err != nil {
			return nil, fmt.Errorf("read session again: %w", mapped(err))
		}
	}
	f.now.places.recheck()
	a, err := s.admit(ctx, old.id, old.handle, f, torn)
	if err != nil {
		return nil, err
	}
	old.follower.now, a.follower = f.now, old.follower // the handle goes on feeding the one it knows
	s.current = a
	return a, nil
}

// admit judges what was read, in the order of storage.md 8.1, and makes the
// attachment. It does not release the handle.
func (s *Service) admit(ctx context.Context, id string, h Handle, f *follower, torn bool) (*Attachment, error) {
	a := &Attachment{service: s, id: id, handle: h, follower: f, selection: s.opts.Startup, notices: []string{}}
	facts := &f.now.facts
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if f.now.places.mismatch {
		return nil, ErrCwdMismatch
	}
	if f.now.err != nil {
		return nil, f.now.err
	}
	if !f.now.places.any && h.Durable() {
		a.notices = append(a.notices, NoticeCwdUnverified)
	}
	if facts.hasSaved {
		available := false
		if a.selection, available = restore(ctx, facts.saved, s.opts.Startup, s.opts.Models); !available {
			a.notices = append(a.notices, NoticeSelectionUnavailable)
		}
	}
	if torn {
		f.now.history.SetTorn()
	}
	if err := a.snap(); err != nil {
		return nil, err
	}
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if err := h.Unchanged(ctx); err != nil {
		return nil, fmt.Errorf("compare session again: %w", mapped(err))
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
	case a.id != id:
		return nil, ErrOtherSession
	}
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
	return a.history.AppendPage(dst, id, page), nil
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
	return newFollower(func() *state {
		return &state{history: history.New(s.opts.NewID), places: places{fs: s.opts.FS, home: s.opts.Cwd}}
	})
}

// canceled returns the cause of an ended context.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("session operation: %w", context.Cause(ctx))
}

// mapped turns the errors of the packages below into those of this one.
func mapped(err error) error {
	for _, r := range []struct{ from, to error }{
		{history.ErrInvalid, ErrInvalid}, {history.ErrLimit, ErrLimit}, {history.ErrContent, ErrContent},
		{history.ErrStale, ErrStale}, {history.ErrCursor, ErrCursor},
	} {
		if errors.Is(err, r.from) {
			return fmt.Errorf("%w: %v", r.to, err)
		}
	}
	return err
}
