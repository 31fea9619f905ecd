package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"magicode/internal/vfs"
)

// place makes h.file the session's file as it is now: it creates it, keeps it
// open from append to append, and notices when it was replaced or changed from
// outside. Then the handle goes on with the file that is there, stale.
func (h *Handle) place(ctx context.Context) (created bool, err error) {
	info, err := h.fs.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, h.create()
	case err != nil:
		return false, err
	}
	if err := safe(info); err != nil {
		return false, err
	}
	if h.file == nil || h.dev != info.Dev || h.ino != info.Ino {
		if info, err = h.reopen(); err != nil {
			return false, err
		}
	}
	if h.print.looksSame(info) {
		return false, nil
	}
	return false, h.outside(ctx, info)
}

// create makes the file. The name is synced together with the first record.
func (h *Handle) create() error {
	h.letGo()
	f, err := h.fs.Open(h.path, vfs.Read|vfs.Append|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = safe(info)
	}
	if err != nil {
		return errors.Join(err, f.Close(), h.fs.Remove(h.path))
	}
	if h.print.exists {
		h.stale = true // it was there, and somebody took it away
	}
	h.file, h.dev, h.ino, h.newName = f, info.Dev, info.Ino, true
	h.print.begin(h.store.seed)
	return nil
}

func (h *Handle) reopen() (vfs.Info, error) {
	replaced := h.file != nil
	h.letGo()
	f, info, err := openSafe(h.fs, h.path, vfs.Read|vfs.Append)
	if err != nil {
		return info, err
	}
	h.file, h.dev, h.ino = f, info.Dev, info.Ino
	h.newName = h.newName || replaced || !h.print.exists
	return info, nil
}

// letGo closes a file that does not bear the session's name any more.
func (h *Handle) letGo() {
	if h.file == nil {
		return
	}
	_ = h.file.Close() // what it held unsynced is gone with its name
	h.file, h.unsynced, h.cut = nil, false, false
}

// outside looks at a file whose stat is not the one that was last seen. Equal
// content is fine; otherwise only the file's tail matters for appending.
func (h *Handle) outside(ctx context.Context, info vfs.Info) error {
	if !h.print.exists {
		h.stale = true
	}
	if !h.stale {
		err := h.verify(ctx)
		if err == nil || !errors.Is(err, ErrStale) {
			return err
		}
	}
	return h.lookAtTail(info.Size)
}

// lookAtTail finds out how the file ends, without reading the rest of it.
func (h *Handle) lookAtTail(size int64) error {
	tail, err := h.lastLine(size)
	if err != nil {
		return fmt.Errorf("read the end of the file: %w", err)
	}
	h.print.begin(h.store.seed)
	h.print.end, h.print.size = size, size
	if len(tail) == 0 {
		return nil
	}
	var l liner
	whole := unpadded(tail)
	if _, err := l.parse(whole); errors.Is(err, errCut) {
		h.print.end = size - int64(len(tail))
		return nil
	}
	h.print.end = size - int64(len(tail)-len(whole))
	h.print.open = true
	return nil
}

// unpadded cuts off the NUL bytes that a power cut leaves where data was not
// written yet: what stands before them may be a whole record.
func unpadded(tail []byte) []byte { return bytes.TrimRight(tail, "\x00") }

// lastLine returns what follows the last line end.
func (h *Handle) lastLine(size int64) ([]byte, error) {
	var tail []byte
	for step := int64(4096); ; step *= 4 {
		n := min(step, size)
		tail = make([]byte, n)
		if _, err := h.file.ReadAt(tail, size-n); err != nil {
			return nil, err
		}
		if i := bytes.LastIndexByte(tail, '\n'); i >= 0 {
			return tail[i+1:], nil
		}
		if n == size {
			return tail, nil
		}
		if n > MaxBytes {
			return nil, ErrLimit
		}
	}
}
