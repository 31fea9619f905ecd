package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// Errors of reading and writing files.
var (
	ErrTooLarge = errors.New("file too large")
	ErrNotUTF8  = errors.New("not valid UTF-8 text")
	// ErrUndurable: the new content is in place, but perhaps not after a crash.
	ErrUndurable = errors.New("written, but perhaps not durable")
)

// Locks is the file locking that writes need (storage.md 12.2): within the
// process and, by a lock file beside the target, across processes. Lock waits
// within bounds, or until ctx ends.
type Locks interface {
	Lock(ctx context.Context, path string) (release func(), err error)
}

// Files reads and writes files of the workspace. It is safe for concurrent use.
type Files struct {
	FS    vfs.FS
	Locks Locks
}

// ReadBytes returns the content of a regular file of at most limit bytes. The
// path is that of Read.
func (f Files) ReadBytes(canonical string, limit int64) ([]byte, error) {
	data, _, err := f.read(canonical, limit)
	return data, err
}

// Read returns the UTF-8 text of a regular file of at most limit bytes. The
// path is canonical: a link in any component that was put there since is
// refused, as is a FIFO or a device, without waiting for it.
func (f Files) Read(canonical string, limit int64) ([]byte, vfs.Info, error) {
	data, info, err := f.read(canonical, limit)
	if err == nil && !utf8.Valid(data) {
		return nil, info, fmt.Errorf("%w: %s", ErrNotUTF8, canonical)
	}
	return data, info, err
}

func (f Files) read(canonical string, limit int64) ([]byte, vfs.Info, error) {
	a, err := openAnchor(f.FS, filepath.Dir(canonical))
	if err != nil {
		return nil, vfs.Info{}, pathError(canonical, err)
	}
	defer a.close()
	data, info, err := vfs.ReadFileInfo(f.FS, a.name(filepath.Base(canonical)), limit)
	switch {
	case errors.Is(err, vfs.ErrTooLarge):
		return nil, info, fmt.Errorf("%w: more than %d bytes: %s", ErrTooLarge, limit, canonical)
	case errors.Is(err, vfs.ErrNotRegular):
		return nil, info, fmt.Errorf("%w: %s", ErrNotRegular, canonical)
	case err != nil:
		return nil, info, pathError(canonical, err)
	}
	return data, info, nil
}

// Write replaces the target's content in one step, making missing parents, and
// returns the canonical path. On an error other than ErrUndurable nothing
// changed but for directories made on the way. What is in place is recorded with
// the run's Edits, under the lock, so that their order is that of the file.
func (f Files) Write(ctx context.Context, t Target, data []byte) (string, error) {
	a, dir, err := f.parents(t)
	if err != nil {
		return "", err
	}
	defer a.close()
	path := filepath.Join(dir, t.Name)
	release, err := f.Locks.Lock(ctx, path)
	if err != nil {
		return "", lockError(ctx, t.arg, err)
	}
	defer release()
	if t.env.Edits == nil {
		return path, f.replace(a, t, data, 0)
	}
	before := version(f.FS, a.name(t.Name))
	err = f.replace(a, t, data, 0)
	if err == nil || errors.Is(err, ErrUndurable) {
		t.env.Edits.Record(ctx, Edit{Tool: "write_file", Path: path, Before: before, After: Present(data)})
	}
	return path, err
}

func lockError(ctx context.Context, arg string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the file is in use by another writer: %s: %v", arg, err)
}

// replace writes below an anchored directory, under the lock.
func (f Files) replace(a anchor, t Target, data []byte, perm fs.FileMode) error {
	name := a.name(t.Name)
	if err := t.checkFinal(f.FS, name); err != nil {
		return err
	}
	if err := a.verify(f.FS); err != nil {
		return pathError(t.arg, err)
	}
	err := vfs.Replace(f.FS, name, data, perm)
	switch {
	case errors.Is(err, vfs.ErrUndurable):
		return fmt.Errorf("%w: %s", ErrUndurable, t.arg)
	case err != nil:
		return pathError(t.arg, err)
	}
	return nil
}

// parents opens the target's directory, making what is missing. Each step
// starts at the directory that is already open, so that a link that appears
// meanwhile is refused instead of followed.
func (f Files) parents(t Target) (anchor, string, error) {
	a, err := openAnchor(f.FS, t.Dir)
	if err != nil {
		return anchor{}, "", pathError(t.arg, err)
	}
	dir := t.Dir
	for _, name := range t.missing {
		err := f.FS.Mkdir(a.name(name), 0o777)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			a.close()
			return anchor{}, "", pathError(t.arg, err)
		}
		next, err := a.child(f.FS, name)
		a.close()
		if err != nil {
			return anchor{}, "", pathError(t.arg, err)
		}
		a, dir = next, filepath.Join(dir, name)
	}
	if _, err := t.policy.check(t.env, t.arg, filepath.Join(dir, t.Name)); err != nil {
		a.close()
		return anchor{}, "", err
	}
	return a, dir, nil
}

// LockAll locks several paths in sorted order, each once. release gives back
// those that were taken.
func (f Files) LockAll(ctx context.Context, paths []string) (release func(), err error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(paths)))
	var held []func()
	release = func() {
		for _, r := range slices.Backward(held) {
			r()
		}
	}
	for _, p := range sorted {
		r, err := f.Locks.Lock(ctx, p)
		if err != nil {
			release()
			return nil, lockError(ctx, p, err)
		}
		held = append(held, r)
	}
	return release, nil
}

// Replace writes a target whose directory exists and whose lock the caller
// holds. perm 0 keeps the mode of the file that is there. Errors are those of Write.
func (f Files) Replace(t Target, data []byte, perm fs.FileMode) error {
	a, err := openAnchor(f.FS, t.Dir)
	if err != nil {
		return pathError(t.arg, err)
	}
	defer a.close()
	return f.replace(a, t, data, perm)
}

// Remove removes a regular file whose lock the caller holds. ErrUndurable means
// that it is gone, but perhaps not after a crash.
func (f Files) Remove(t Target) error {
	a, err := openAnchor(f.FS, t.Dir)
	if err != nil {
		return pathError(t.arg, err)
	}
	defer a.close()
	name := a.name(t.Name)
	if err := t.checkFinal(f.FS, name); err != nil {
		return err
	}
	if err := a.verify(f.FS); err != nil {
		return pathError(t.arg, err)
	}
	if err := f.FS.Remove(name); err != nil {
		return pathError(t.arg, err)
	}
	if err := f.FS.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("%w: %s", ErrUndurable, t.arg)
	}
	return nil
}
