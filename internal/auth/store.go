package auth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"magicode/internal/vfs"
)

// LockWait is how long the auth lock is waited for (storage.md 3.1).
const LockWait = 30 * time.Second

// maxFile is the most that auth.json may have: 1,048,576 bytes, storage.md 3.1.
const maxFile = 1 << 20

// ErrLoginNeeded: the stored login is gone or cannot be renewed.
var ErrLoginNeeded = errors.New("login needed")

// ErrCounter: a counter of the file has reached its end.
var ErrCounter = errors.New("auth.json: counter overflow")

// Acquire takes the lock that guards the file target, waiting at most wait.
type Acquire func(ctx context.Context, target string, wait time.Duration) (release func() error, err error)

// Store is one auth.json. It keeps nothing in memory: every call reads the file
// under its lock. It is safe for concurrent use as far as lock is.
type Store struct {
	fs   vfs.FS
	path string
	lock Acquire
	now  func() time.Time
}

// NewStore gives the store at path, an absolute name. now is the wall clock.
func NewStore(fsys vfs.FS, path string, lock Acquire, now func() time.Time) *Store {
	return &Store{fs: fsys, path: path, lock: lock, now: now}
}

// Read gives the current content. A missing file is an empty store. A file that
// is a link, no regular file, open to others, too large or malformed gives
// ErrInvalid.
func (s *Store) Read(ctx context.Context) (f File, err error) {
	if s.untouched() {
		return File{}.clone(), nil
	}
	err = s.locked(ctx, func() error {
		f, err = s.read()
		return err
	})
	return f, err
}

// untouched: there is neither a file nor anybody who holds its lock and may be
// about to make one. Then no lock file has to come and go just to read nothing,
// which is most of a start's work for a user without stored credentials.
func (s *Store) untouched() bool {
	dir, name := filepath.Split(s.path)
	for _, name := range []string{s.path, dir + "." + name + ".lock"} { // storage.md 12.2
		if _, err := s.fs.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// Put stores a provider's record. A login keeps the old refresh token where the
// new record has none.
func (s *Store) Put(ctx context.Context, provider string, r Record) error {
	return s.change(ctx, provider, func(f *File) {
		if old, ok := f.Records[provider]; ok && r.Kind == KindOAuth && old.Kind == KindOAuth && empty(r.Refresh) {
			r.Refresh = old.Refresh
		}
		f.Records[provider] = r
	})
}

// Remove takes a provider's record out. The counters move even when there was none.
func (s *Store) Remove(ctx context.Context, provider string) error {
	return s.change(ctx, provider, func(f *File) { delete(f.Records, provider) })
}

// Exchange trades a refresh token for a new record over the network. Refresh of
// the result may be nil or empty when the server kept the old one.
type Exchange func(ctx context.Context, refresh Secret) (Record, error)

// Refresh gives a usable OAuth record of a provider, renewing it if need be
// (storage.md 3.3). force renews even what looks ready, after the server
// refused it. Whoever loses a race against another process gets the winner's
// record. ErrLoginNeeded means that only a new login helps; the error of
// exchange comes back as it is.
func (s *Store) Refresh(ctx context.Context, provider string, force bool, exchange Exchange) (Record, error) {
	f, err := s.Read(ctx)
	if err != nil {
		return Record{}, err
	}
	seen, generation := f.Records[provider], f.Generations[provider]
	if seen.codex(s.now()) == Ready && !force {
		return seen, nil
	}
	if seen.Kind != KindOAuth || empty(seen.Refresh) {
		return Record{}, fmt.Errorf("%w: %s has no refresh token", ErrLoginNeeded, provider)
	}
	fresh, err := exchange(ctx, *seen.Refresh)
	if err != nil {
		return s.afterFailure(ctx, provider, generation, err)
	}
	fresh.Kind = KindOAuth
	if empty(fresh.Refresh) {
		fresh.Refresh = seen.Refresh
	}
	return s.swap(ctx, provider, generation, seen, fresh)
}

// afterFailure: another process may have used the same token first; then its
// result is there.
func (s *Store) afterFailure(ctx context.Context, provider string, generation uint64, failure error) (Record, error) {
	f, err := s.Read(ctx)
	if err != nil {
		return Record{}, failure
	}
	if r := f.Records[provider]; f.Generations[provider] > generation && r.codex(s.now()) == Ready {
		return r, nil
	}
	return Record{}, failure
}

// swap stores fresh only in the place of exactly what was read; else the new
// token is dropped and the current record counts, if it is ready. It ignores a
// cancellation: the server has spent the old token already, so losing the new
// one would log the user out.
func (s *Store) swap(ctx context.Context, provider string, generation uint64, seen, fresh Record) (got Record, err error) {
	err = s.locked(context.WithoutCancel(ctx), func() error {
		f, err := s.read()
		if err != nil {
			return err
		}
		current, ok := f.Records[provider]
		if ok && f.Generations[provider] == generation && current.Equal(seen) {
			f.Records[provider] = fresh
			got = fresh
			return s.write(&f, provider)
		}
		if current.codex(s.now()) != Ready {
			return fmt.Errorf("%w: %s changed meanwhile", ErrLoginNeeded, provider)
		}
		got = current
		return nil
	})
	return got, err
}

func empty(s *Secret) bool { return s == nil || *s == "" }

func (s *Store) change(ctx context.Context, provider string, apply func(*File)) error {
	return s.locked(ctx, func() error {
		f, err := s.read()
		if err != nil {
			return err
		}
		apply(&f)
		return s.write(&f, provider)
	})
}

// locked runs do with the lock held.
func (s *Store) locked(ctx context.Context, do func() error) error {
	release, err := s.lock(ctx, s.path, LockWait)
	if err != nil {
		return fmt.Errorf("lock auth.json: %w", err)
	}
	err = do()
	if e := release(); e != nil {
		err = errors.Join(err, fmt.Errorf("unlock auth.json: %w", e))
	}
	return err
}

func (s *Store) read() (File, error) {
	data, err := vfs.ReadFile(s.fs, s.path, maxFile, vfs.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}.clone(), nil
	}
	if err != nil {
		return File{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return parse(data)
}

// write counts both counters up and replaces the file.
func (s *Store) write(f *File, provider string) error {
	if f.Revision == math.MaxUint64 || f.Generations[provider] == math.MaxUint64 {
		return ErrCounter
	}
	f.Revision++
	f.Generations[provider]++
	err := vfs.Replace(s.fs, s.path, f.text(), 0o600)
	if errors.Is(err, vfs.ErrUndurable) {
		return nil // the new content is what every reader sees
	}
	return err
}
