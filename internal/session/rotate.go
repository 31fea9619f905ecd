package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"magicode/internal/vfs"
)

// headBytes is how much of a log's start must be the same at both steps of a
// rotation (storage.md 5.7).
const headBytes = 4096

// Rotation is a compaction in progress. Nothing has to be undone when it is
// given up.
type Rotation struct {
	h        *Handle
	dev, ino uint64
	length   int64
	head     []byte
	cutoff   int64 // the first byte that is carried over
}

// BeginRotation does step 1 of storage.md 5.7: it makes sure that the log
// exists and is whole, remembers what it is, and hands the records before the
// cutoff to the folds. The last carry records lie behind the cutoff: they are
// kept after the checkpoint (decision 30). Errors are those of Append and Read.
func (h *Handle) BeginRotation(ctx context.Context, carry int, folds ...Fold) (*Rotation, error) {
	if err := h.lock(ctx); err != nil {
		return nil, err
	}
	defer h.unlock()
	r, err := h.begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin rotation: %w", err)
	}
	f, info, err := openSafe(h.fs, h.path, vfs.Read)
	if err != nil {
		return nil, fmt.Errorf("begin rotation: %w", absent(err))
	}
	p, err := h.readUpTo(ctx, f, info.Size, max(0, h.count-carry), folds)
	err = errors.Join(err, f.Close())
	if err == nil && !h.print.equal(&p.print) {
		h.stale = true
		err = ErrStale
	}
	if err != nil {
		return nil, fmt.Errorf("begin rotation: %w", err)
	}
	r.cutoff = p.cutoff
	return r, nil
}

func (h *Handle) begin(ctx context.Context) (*Rotation, error) {
	if h.stale {
		return nil, ErrStale
	}
	if err := h.encode(nil); err != nil {
		return nil, err
	}
	if err := h.store.checkRoot(); err != nil {
		return nil, err
	}
	lock, err := h.appendLock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if err := h.whole(ctx); err != nil {
		return nil, err
	}
	r := &Rotation{h: h, dev: h.dev, ino: h.ino, length: h.print.size, head: make([]byte, min(headBytes, h.print.size))}
	if _, err := h.file.ReadAt(r.head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r, nil
}

// whole makes the log exist, on disk, made of whole lines.
func (h *Handle) whole(ctx context.Context) error {
	created, err := h.place(ctx)
	if err != nil {
		return err
	}
	if h.stale {
		return ErrStale
	}
	if h.print.open || h.print.size > h.print.end { // what is carried over must begin a line
		if err := h.mend(nil); err != nil {
			return err
		}
		if _, err := h.write(Required, false); err != nil {
			return err
		}
		h.deliver()
	}
	if created {
		h.unsynced = true
		h.durable.Store(true)
		h.restat()
	}
	return h.syncPending()
}

// Commit does step 2: it archives the log and puts one checkpoint record with
// this payload, and all records behind the cutoff, in its place. The payload
// is stored as it is: its summary must be redacted already.
//
// Durable: the new log is in force. NotWritten: the old one is, unchanged.
// Uncertain: the new one is in force, but a power cut may bring the old one
// back. Revisions and indexes of before mean nothing afterwards; Reload gives
// folds the new content.
func (r *Rotation) Commit(ctx context.Context, payload any) (Outcome, error) {
	h := r.h
	if err := h.lock(ctx); err != nil {
		return NotWritten, fmt.Errorf("rotate: %w", err)
	}
	defer h.unlock()
	outcome, err := r.commit(ctx, payload)
	if err != nil {
		err = fmt.Errorf("rotate: %w", err)
	}
	return outcome, err
}

func (r *Rotation) commit(ctx context.Context, payload any) (Outcome, error) {
	h := r.h
	if err := h.encode([]Event{{Kind: KindCompaction, Payload: payload}}); err != nil {
		return NotWritten, err
	}
	if err := h.store.checkRoot(); err != nil {
		return NotWritten, err
	}
	lock, err := h.appendLock(ctx)
	if err != nil {
		return NotWritten, err
	}
	defer lock.Release()
	if err := r.recheck(ctx); err != nil {
		return NotWritten, err
	}
	if err := h.removeTemps(); err != nil {
		return NotWritten, err
	}
	n, err := h.archive()
	if err != nil {
		return NotWritten, fmt.Errorf("archive: %w", err)
	}
	if err := r.swap(n); err != nil {
		return NotWritten, err
	}
	h.letGo()
	h.newName = true
	h.takeOver(ctx)
	if err := h.syncName(); err != nil {
		return Uncertain, err
	}
	return Durable, nil
}

// recheck holds the log against step 1; anything else than growth fails.
func (r *Rotation) recheck(ctx context.Context) error {
	h := r.h
	if _, err := h.place(ctx); err != nil {
		return err
	}
	head := make([]byte, len(r.head))
	if _, err := h.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if h.stale || h.dev != r.dev || h.ino != r.ino || h.print.size < r.length || !bytes.Equal(head, r.head) {
		return ErrStale
	}
	return nil
}

// removeTemps clears what a crashed rotation has left.
func (h *Handle) removeTemps() error {
	list, err := h.fs.ReadDir(h.store.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "."+h.id+".jsonl.compact-") {
			if err := h.fs.Remove(filepath.Join(h.store.o.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// archive copies the whole log to `.history/<id>/<n>.jsonl`.
func (h *Handle) archive() (n int, err error) {
	fsys, dir := h.fs, filepath.Join(h.store.o.Dir, ".history", h.id)
	if err := archiveDir(fsys, dir); err != nil {
		return 0, err
	}
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n = 1
	for _, e := range list {
		if have, ok := numbered(e.Name(), "", ".jsonl"); ok && have >= n {
			n = have + 1
		}
	}
	name := strconv.Itoa(n) + ".jsonl"
	temp := filepath.Join(dir, "."+name+".compact-tmp")
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if _, err := h.copyFile(temp, nil, 0); err != nil {
		return 0, err
	}
	if err := fsys.Rename(temp, filepath.Join(dir, name)); err != nil {
		return 0, errors.Join(err, dropTemp(fsys, temp))
	}
	return n, fsys.SyncDir(dir)
}

// archiveDir makes both levels and syncs the names that are new.
func archiveDir(fsys vfs.FS, dir string) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		switch err := fsys.Mkdir(d, 0o777); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return err
		default:
			if err := fsys.SyncDir(filepath.Dir(d)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFile writes a new file of head and the log's bytes from an offset on, and
// syncs it. A failed copy is removed.
func (h *Handle) copyFile(name string, head []byte, from int64) (vfs.Info, error) {
	f, err := h.fs.Open(name, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if err != nil {
		return vfs.Info{}, err
	}
	if len(head) > 0 {
		err = vfs.WriteAll(f, head)
	}
	if err == nil {
		err = h.copyTo(f, from, h.print.size)
	}
	if err == nil {
		err = f.Sync()
	}
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err != nil {
		return vfs.Info{}, errors.Join(err, dropTemp(h.fs, name))
	}
	return info, nil
}

func dropTemp(fsys vfs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// swap builds the new log and renames it over the old one: the commit point.
func (r *Rotation) swap(n int) error {
	h := r.h
	fsys := h.fs
	temp := filepath.Join(h.store.o.Dir, fmt.Sprintf(".%s.jsonl.compact-%d-%d", h.id, os.Getpid(), n))
	made, err := h.copyFile(temp, h.buf[1:], r.cutoff)
	if err != nil {
		return err
	}
	if err := fsys.Rename(temp, h.path); err != nil {
		if now, lerr := fsys.Lstat(h.path); lerr == nil && now.Dev == made.Dev && now.Ino == made.Ino {
			return nil // it happened all the same
		}
		return errors.Join(err, dropTemp(fsys, temp))
	}
	return nil
}

// takeOver reads the new log. Without it the handle is stale until Reload.
func (h *Handle) takeOver(ctx context.Context) {
	h.told = true
	p, err := h.passOver(context.WithoutCancel(ctx), nil)
	if err != nil {
		h.stale = true
		return
	}
	h.adopt(p)
}
