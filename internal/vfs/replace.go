package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ErrUndurable: the new content is in place, but it is not certain that it
// survives a crash (only the last sync, that of the directory, failed).
var ErrUndurable = errors.New("replaced, but not surely on disk")

// Replace puts data in the place of name in one step (storage.md 12.1): it
// makes the parent folders, writes `.<name>.<pid>.<unix nanos>.tmp` beside it,
// syncs, renames and syncs the directory. Readers see the old or the new
// content, never a mixture. perm 0 keeps the mode of an existing file, and is
// 0666 under the umask for a new one. On an error other than ErrUndurable the
// old content is untouched and the temporary file is gone.
func Replace(fsys FS, name string, data []byte, perm fs.FileMode) error {
	return replace(fsys, name, data, perm, true)
}

// ReplaceCache is Replace without any sync, for files that can be made again.
// After a crash the file may be old, new, or empty.
func ReplaceCache(fsys FS, name string, data []byte, perm fs.FileMode) error {
	return replace(fsys, name, data, perm, false)
}

func replace(fsys FS, name string, data []byte, perm fs.FileMode, durable bool) error {
	dir := filepath.Dir(name)
	if perm == 0 {
		if info, err := fsys.Stat(name); err == nil {
			perm = info.Mode.Perm()
		}
	}
	f, temp, err := createTemp(fsys, name, perm)
	if errors.Is(err, fs.ErrNotExist) {
		if err := fsys.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("replace %s: %w", name, err)
		}
		f, temp, err = createTemp(fsys, name, perm)
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	err = errors.Join(fill(f, data, perm, durable), f.Close())
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", name, errors.Join(err, fsys.Remove(temp)))
	}
	if !durable {
		return nil
	}
	if err := fsys.SyncDir(dir); err != nil {
		return fmt.Errorf("replace %s: %w: %w", name, ErrUndurable, err)
	}
	return nil
}

// createTemp tries a few names: two writers of one process can meet in a
// nanosecond of a coarse clock.
func createTemp(fsys FS, name string, perm fs.FileMode) (File, string, error) {
	if perm == 0 {
		perm = 0o666
	}
	dir, base := filepath.Split(name)
	at := time.Now().UnixNano()
	for i := int64(0); ; i++ {
		temp := dir + "." + base + "." + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(at+i, 10) + ".tmp"
		f, err := fsys.Open(temp, Write|Create|Exclusive|NoFollow, perm)
		if err == nil || !errors.Is(err, fs.ErrExist) || i == 16 {
			return f, temp, err
		}
	}
}

func fill(f File, data []byte, perm fs.FileMode, durable bool) error {
	if err := WriteAll(f, data); err != nil {
		return err
	}
	if perm != 0 {
		if err := f.Chmod(perm); err != nil { // the umask may have taken bits away
			return err
		}
	}
	if durable {
		return f.Sync()
	}
	return nil
}

// WriteAll writes p in one call; a short write is an error.
func WriteAll(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}
