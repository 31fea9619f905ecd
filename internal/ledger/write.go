package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"magicode/internal/vfs"
)

// keep stores a content under its hash, once; nil is nothing to store. What is
// there with the right size is trusted: blobs come into being by a rename.
func (s *Store) keep(b *blob) error {
	if b == nil {
		return nil
	}
	dir := filepath.Join(s.dir, "blobs")
	if err := s.private(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, b.SHA256)
	info, err := s.fs.Lstat(path)
	if err == nil && info.Mode.IsRegular() && info.Size == b.Bytes {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = vfs.Replace(s.fs, path, b.data, 0o600)
	if errors.Is(err, vfs.ErrUndurable) {
		_ = s.fs.Remove(path) // or the next edit would trust it
	}
	return err
}

// append adds the record to the session's ledger, durably, under its lock.
func (s *Store) append(ctx context.Context, rec *record, until time.Time) error {
	text, err := rec.encode()
	if err != nil {
		return fmt.Errorf("encode a checkpoint: %w", err)
	}
	dir := filepath.Join(s.dir, "ledgers")
	if err := s.private(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, rec.SessionID+".jsonl")
	held, err := s.leases.Acquire(ctx, path, time.Until(until))
	if err != nil {
		return fmt.Errorf("lock the ledger: %w", err)
	}
	defer func() { _ = held.Release() }()
	f, created, err := s.open(path)
	if err != nil {
		return err
	}
	err = extend(f, text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if created {
		err = s.made(path, err)
	}
	return err
}

// made ends the making of a name: one that is not surely on disk is taken back,
// so that its next user makes it again.
func (s *Store) made(path string, err error) error {
	if err == nil {
		err = s.fs.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = s.fs.Remove(path)
	}
	return err
}

// open opens a ledger for appending. A link, a FIFO or a file with a second name
// is refused.
func (s *Store) open(path string) (f vfs.File, created bool, err error) {
	const how = vfs.Read | vfs.Append | vfs.NoFollow | vfs.NonBlock
	f, err = s.fs.Open(path, how, 0)
	if errors.Is(err, fs.ErrNotExist) {
		created = true
		f, err = s.fs.Open(path, how|vfs.Create|vfs.Exclusive, 0o666)
	}
	if err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode.IsRegular() || info.Nlink != 1) {
		err = vfs.ErrNotRegular
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, created, nil
}

// extend writes one line and syncs it. A torn line of an earlier crash is ended
// first. What could not be written whole is taken back, as far as that goes: a
// torn line that stays costs itself only.
func extend(f vfs.File, text []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	torn, err := torn(f, info.Size)
	if err != nil {
		return err
	}
	if torn {
		text = append([]byte{'\n'}, text...)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Truncate(info.Size) // the record is lost, which the caller tells
	}
	return err
}

// torn reports whether the last byte is no line end.
func torn(f vfs.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
