package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"magicode/internal/vfs"
)

// mend moves a torn tail into the recovered folder before anything is appended
// behind it (decision 16), and puts a diagnostic record in front of the batch.
func (h *Handle) mend(events []Event) error {
	torn := h.print.size - h.print.end
	if torn > 0 {
		if err := h.setAside(); err != nil {
			return fmt.Errorf("set a torn record aside: %w", err)
		}
		h.cut = true
		if err := h.file.Truncate(h.print.end); err != nil {
			return fmt.Errorf("cut a torn record off: %w", err)
		}
	}
	if h.cut {
		if err := h.file.Sync(); err != nil {
			return fmt.Errorf("cut a torn record off: %w", err)
		}
		h.cut = false
	}
	if torn == 0 {
		return nil
	}
	h.print.size = h.print.end
	note := Event{Kind: KindDiagnostic, Payload: map[string]any{
		"level":   "warning",
		"message": fmt.Sprintf("The last record of this session was cut off, probably by a crash. Its %d bytes were set aside in state/recovered.", torn),
	}}
	return h.encode(append([]Event{note}, events...))
}

// setAside copies the torn bytes; they are on disk when it returns nil. A crash
// before the tail is cut off makes a second copy next time, and no harm.
func (h *Handle) setAside() error {
	fsys, dir := h.fs, h.store.o.RecoveredDir
	made, err := ensureDir(fsys, dir)
	if err != nil {
		return err
	}
	name, err := h.recoveredName(dir)
	if err != nil {
		return err
	}
	f, err := fsys.Open(name, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if err != nil {
		return err
	}
	err = h.copyTo(f, h.print.end, h.print.size)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(name))
	}
	if made {
		err = fsys.SyncDir(filepath.Dir(dir))
	}
	return errors.Join(err, fsys.SyncDir(dir))
}

// ensureDir makes a private folder below an existing one.
func ensureDir(fsys vfs.FS, dir string) (made bool, err error) {
	err = fsys.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		err = fsys.MkdirAll(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// recoveredName is `<id>-<n>.torn` with the next free n.
func (h *Handle) recoveredName(dir string) (string, error) {
	list, err := h.fs.ReadDir(dir)
	if err != nil {
		return "", err
	}
	next := 1
	for _, e := range list {
		n, ok := numbered(e.Name(), h.id+"-", ".torn")
		if ok && n >= next {
			next = n + 1
		}
	}
	return filepath.Join(dir, h.id+"-"+strconv.Itoa(next)+".torn"), nil
}

// numbered reads the number between prefix and suffix of a file name.
func numbered(name, prefix, suffix string) (int, bool) {
	mid, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	mid, ok = strings.CutSuffix(mid, suffix)
	n, err := strconv.Atoi(mid)
	return n, ok && err == nil && n > 0
}

// copyTo copies the file's bytes from..to.
func (h *Handle) copyTo(dst vfs.File, from, to int64) error {
	buf := make([]byte, min(readChunk, to-from))
	for from < to {
		n := min(int64(len(buf)), to-from)
		if _, err := h.file.ReadAt(buf[:n], from); err != nil {
			return err
		}
		if err := vfs.WriteAll(dst, buf[:n]); err != nil {
			return err
		}
		from += n
	}
	return nil
}
