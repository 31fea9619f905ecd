package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"magicode/internal/lease"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// lockWait is how long other publications are waited for, by all locks of one
// together: one takes some milliseconds, and a cancelled turn has two seconds to
// end.
const lockWait = 2 * time.Second

// Options of a Store. All are required.
type Options struct {
	FS     vfs.FS
	Leases *lease.Manager
	// Root is the canonical home; checkpoints/ lies in it.
	Root string
}

// Store writes ledgers and blobs. It is safe for concurrent use.
type Store struct {
	fs     vfs.FS
	leases *lease.Manager
	root   string
	dir    string
}

// New returns a store. It makes nothing before the first edit.
func New(o Options) *Store {
	return &Store{fs: o.FS, leases: o.Leases, root: o.Root, dir: filepath.Join(o.Root, "checkpoints")}
}

// Run says whose edits are recorded.
type Run struct {
	Session string // its id
	Cwd     string // canonical; edits outside of it are not recorded
	// Turn is the number of the session's prompts so far.
	Turn func(ctx context.Context) (int, error)
	// Lost is told why an edit cannot be rewound, once per edit.
	Lost func(ctx context.Context, reason string)
}

// Recorder records the edits of one run. It implements tool.Edits.
type Recorder struct {
	store *Store
	run   Run
	stuck atomic.Bool // the last edit waited in vain: the next one does not wait
}

// For returns the recorder of a run.
func (s *Store) For(run Run) *Recorder { return &Recorder{store: s, run: run} }

var _ tool.Edits = (*Recorder)(nil)

// Record implements tool.Edits.
func (r *Recorder) Record(ctx context.Context, e tool.Edit) {
	ctx = context.WithoutCancel(ctx) // the edit is made: its record is due
	until := time.Now().Add(lockWait)
	if r.stuck.Load() {
		until = time.Now()
	}
	reason, err := r.store.record(ctx, r.run, e, until)
	r.stuck.Store(errors.Is(err, lease.ErrBusy))
	if reason != "" {
		r.run.Lost(ctx, reason)
	}
}

// record returns why the edit cannot be rewound although it should be; err is
// that of its publication.
func (s *Store) record(ctx context.Context, run Run, e tool.Edit, until time.Time) (reason string, err error) {
	if !tool.Inside(run.Cwd, e.Path) {
		return "", nil
	}
	relative, err := filepath.Rel(run.Cwd, e.Path)
	if err != nil || !utf8.ValidString(e.Path) {
		return "its name is not UTF-8", nil
	}
	turn, err := run.Turn(ctx)
	if err != nil {
		return "the session is closed", nil
	}
	rec := record{SessionID: run.Session, UserTurn: turn, Tool: e.Tool, Cwd: run.Cwd, RelativePath: filepath.ToSlash(relative)}
	rec.judge(e, exclusion(s.root, e.Path, relative))
	if err := s.publish(ctx, &rec, until); err != nil {
		return why(err), err
	}
	if status, ok := rec.Status.(map[string]any); ok {
		if u, ok := status["unavailable"].(map[string]any); ok {
			return u["reason"].(string), nil
		}
	}
	return "", nil
}

// publish stores the blobs and then the record, under the store's lock. A blob
// that cannot be stored makes the record say so; the error is that of a record
// that is not surely in the ledger.
func (s *Store) publish(ctx context.Context, rec *record, until time.Time) error {
	if err := s.private(s.dir, 0); err != nil {
		return fmt.Errorf("the folder of the checkpoints: %w", err)
	}
	// storage.md 5.9 says "in the root": the home, or the folder of the
	// checkpoints. Who prunes takes both in this order, too.
	for _, dir := range [...]string{s.root, s.dir} {
		held, err := s.leases.Acquire(ctx, filepath.Join(dir, "checkpoint-store"), time.Until(until))
		if err != nil {
			return fmt.Errorf("lock the checkpoints: %w", err)
		}
		defer func() { _ = held.Release() }() // as tool.LeaseLocks: a file that stays hinders nobody here
	}
	for _, b := range [...]*blob{rec.Pre, rec.Post} {
		if err := s.keep(b); err != nil {
			rec.fail("the content could not be stored: " + why(err))
			break
		}
	}
	return s.append(ctx, rec, until)
}

// private makes a folder and refuses a name that stands for something else. perm
// 0 is that which the umask leaves.
func (s *Store) private(dir string, perm fs.FileMode) error {
	if perm == 0 {
		perm = 0o777
	}
	info, err := s.fs.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.fs.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.made(dir, nil); err != nil {
			return err
		}
		info, err = s.fs.Lstat(dir)
	}
	if err == nil && !info.Mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}

// why words an error without a path.
func why(err error) string {
	if errors.Is(err, lease.ErrBusy) {
		return "another process is using the checkpoints"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if errors.Is(err, vfs.ErrUndurable) {
		return "it could not be synced"
	}
	return "the checkpoints are not accessible"
}
