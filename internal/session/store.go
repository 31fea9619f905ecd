package session

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"magicode/internal/lease"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Limits of a session file (storage.md 5.6 and 5.4).
const (
	MaxLines = 100_000
	MaxBytes = 67_108_864 // line terminators included

	maxNestedFile  = 33_554_432 // a file that takes nested records of scripts
	maxNestedBatch = 8_388_608
)

// Options are what a Store works with. All but Child and Tel are required.
type Options struct {
	FS           vfs.FS
	Leases       *lease.Manager
	Dir          string        // <root>/sessions
	RecoveredDir string        // <root>/state/recovered: torn tails (decision 16)
	Cwd          string        // canonical; stands in every record
	SessionPath  func() string // storage.md 6.1; called once, before the first record
	NewID        func() string // UUID v4
	Now          func() time.Time

	// Child makes a store of delegated tasks' logs, <root>/sessions/subagents:
	// no writer lock, and record ids come from the parent folder's sequence.
	Child bool
	Tel   telemetry.Tel
}

// Store makes handles on the session files of one folder. It is safe for
// concurrent use and holds nothing open itself.
type Store struct {
	o    Options
	ids  *sequence
	seed maphash.Seed
	path func() string // the session path, computed once
}

// NewStore returns a store; it touches no file.
func NewStore(o Options) *Store {
	dir := o.Dir
	if o.Child {
		dir = filepath.Dir(dir)
	}
	return &Store{
		o: o, seed: maphash.MakeSeed(), path: sync.OnceValue(o.SessionPath),
		ids: &sequence{fs: &measured{o.FS, o.Tel, "metadata", o.Tel.Synced}, leases: o.Leases, path: filepath.Join(dir, "event-id-sequence")},
	}
}

func (s *Store) file(id string) string { return filepath.Join(s.o.Dir, id+".jsonl") }

// ValidID reports whether id may name a session file (storage.md 5.1).
func ValidID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return id != ""
}

// Create makes a handle on a session that does not exist yet, under a fresh id.
// It takes the locks; the file appears with the first record. Errors: ErrBusy,
// ErrInvalid, the context's cause.
func (s *Store) Create(ctx context.Context) (*Handle, error) { return s.CreateAs(ctx, s.o.NewID()) }

// CreateAs is Create under a given id.
func (s *Store) CreateAs(ctx context.Context, id string) (*Handle, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("create session: bad id: %w", ErrInvalid)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.checkRoot(); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	h, err := s.attach(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	if _, err := s.o.FS.Lstat(h.path); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("create session: the id is taken: %w", ErrInvalid), h.Close())
	}
	return h, nil
}

// Open makes a handle on exactly this session and hands every accepted record
// to the folds (storage.md 8.1, steps 2 to 5). Nothing is written. An id that
// another handle of this store has open shares its locks, so the caller may
// keep the old handle until it has the new one.
//
// A file that was exchanged or written to while it was read is ErrStale, as far
// as a stat shows it. Step 10, which also finds what file clocks hide, is
// Unchanged, called when everything else is done.
//
// ReadInfo is complete whenever the file was read to its end, also with an
// error of a fold, which comes after ErrLimit and ErrInvalid.
func (s *Store) Open(ctx context.Context, id string, folds ...Fold) (*Handle, ReadInfo, error) {
	h, err := s.open(ctx, id)
	if err != nil {
		return nil, ReadInfo{}, fmt.Errorf("open session: %w", err)
	}
	info, err := h.first(ctx, folds)
	if err != nil {
		return nil, info, errors.Join(fmt.Errorf("open session: %w", err), h.Close())
	}
	return h, info, nil
}

func (s *Store) open(ctx context.Context, id string) (*Handle, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("bad id: %w", ErrInvalid)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	info, err := s.o.FS.Lstat(s.file(id))
	if err != nil {
		return nil, absent(err)
	}
	if err := errors.Join(s.checkRoot(), safe(info)); err != nil {
		return nil, err
	}
	return s.attach(ctx, id)
}

// attach takes the locks, writer before active (storage.md 5.3).
func (s *Store) attach(ctx context.Context, id string) (*Handle, error) {
	_, span := s.o.Tel.Begin(ctx, telemetry.SpanSessionLease)
	h, err := s.take(id, span)
	leased(span, err)
	return h, err
}

func (s *Store) take(id string, span telemetry.Span) (*Handle, error) {
	span.Str(telemetry.KeyLease, telemetry.WordOf("writer"))
	h := s.handle(id)
	if !s.o.Child {
		var err error
		if h.writer, err = s.o.Leases.Share(filepath.Join(s.o.Dir, id+".writer")); err != nil {
			return nil, lockError(err)
		}
	}
	span.Str(telemetry.KeyLease, telemetry.WordOf("active"))
	var err error
	if h.active, err = s.o.Leases.Share(filepath.Join(s.o.Dir, id+".active")); err != nil {
		return nil, errors.Join(lockError(err), h.writer.Release())
	}
	return h, nil
}

// handle makes one that holds no lock.
func (s *Store) handle(id string) *Handle {
	h := &Handle{store: s, id: id, path: s.file(id), turn: make(chan struct{}, 1)}
	h.fs = &measured{s.o.FS, s.o.Tel, "data", h.hasSynced}
	return h
}

func lockError(err error) error {
	if errors.Is(err, lease.ErrBusy) {
		return fmt.Errorf("%w: %v", ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// absent tells a missing session from one that cannot be looked at.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// checkRoot holds the folder against storage.md 1.2. The checks are made by
// name: whoever could exchange the folder between this and the next operation
// owns the files that are checked one by one.
func (s *Store) checkRoot() error {
	info, err := s.o.FS.Lstat(s.o.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("sessions folder: %w: %w", ErrInvalid, err)
	case !info.Mode.IsDir(), info.UID != uint32(os.Geteuid()), info.Mode.Perm()&0o077 != 0:
		return fmt.Errorf("sessions folder is not private: %w", ErrInvalid)
	}
	return nil
}

// safe holds a session file against storage.md 5.2.
func safe(info vfs.Info) error {
	if !info.Mode.IsRegular() || info.Nlink != 1 || info.UID != uint32(os.Geteuid()) || info.Mode.Perm()&0o077 != 0 {
		return fmt.Errorf("not a private regular file: %w", ErrInvalid)
	}
	return nil
}

// openSafe opens an existing session file and checks what was opened.
func openSafe(fsys vfs.FS, path string, flags vfs.Flag) (vfs.File, vfs.Info, error) {
	f, err := fsys.Open(path, flags|vfs.NoFollow|vfs.NonBlock, 0)
	if err != nil {
		return nil, vfs.Info{}, err
	}
	info, err := f.Stat()
	if err == nil {
		err = safe(info)
	}
	if err != nil {
		return nil, vfs.Info{}, errors.Join(err, f.Close())
	}
	return f, info, nil
}
