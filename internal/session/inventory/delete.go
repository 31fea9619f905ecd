package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// Reasons why an item of a plan stays.
var (
	ErrInUse   = errors.New("in use")
	ErrChanged = errors.New("changed meanwhile")
)

// Delete deletes the items of a plan and tells of each, in order: err is nil for
// one that is gone, ErrInUse or ErrChanged for one that must stay, else what
// went wrong. At the end it drops the file snapshots that no session refers to
// any more; blobs is how many. The error is the context's cause, or that of the
// snapshots.
//
// A session is deleted under all its locks and through a private folder, as
// storage.md 9 says: what is unlinked is exactly the file that was surveyed.
func (h Home) Delete(ctx context.Context, p Plan, told func(Item, error)) (blobs int, err error) {
	var gone []string
	for _, item := range p.Items {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		err := item.home.delete(item)
		if err == nil && (item.Kind != KindOrphan || filepath.Dir(item.Path) == h.below(h.ledgers())) {
			gone = append(gone, item.ID) // an old sidecar says nothing about a ledger of its name
		}
		told(item, err)
	}
	return h.dropSnapshots(ctx, gone)
}

func (h Home) delete(item Item) error {
	path := filepath.Join(h.Root, item.Path)
	release, err := h.own(item.ID)
	if err != nil {
		return err
	}
	switch item.Kind {
	case KindSession, KindTask:
		if err = h.unlink(item); err == nil {
			err = h.deleteParts(item.ID)
		}
	case KindUnfinished:
		err = h.deleteFolder(path, func(name string) bool { return name == item.ID+logSuffix })
	case KindOrphan:
		err = h.deleteOrphan(item, path)
	}
	return errors.Join(err, release())
}

// own takes all the locks of a session, in their order, without waiting.
func (h Home) own(id string) (release func() error, err error) {
	var held []*lease.Lease
	release = func() error {
		var errs []error
		for i := len(held) - 1; i >= 0; i-- {
			errs = append(errs, held[i].Release())
		}
		return errors.Join(errs...)
	}
	locks := h.locks(id)
	if h.Child {
		locks = locks[1:] // storage.md 5.3: a task's log has no writer lock
	}
	for _, target := range locks {
		l, err := h.Leases.TryAcquire(target)
		if errors.Is(err, lease.ErrBusy) {
			return nil, errors.Join(ErrInUse, release())
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		held = append(held, l)
	}
	return release, nil
}

// unlink moves the log into a folder of its own, makes sure that it is the one
// that was surveyed, and removes it. Another file is moved back.
func (h Home) unlink(item Item) error {
	path := h.log(item.ID)
	now, err := h.FS.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !same(now, item.info) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	cell, err := h.cell(item.ID)
	if err != nil {
		return err
	}
	moved := filepath.Join(cell, item.ID+logSuffix)
	if err := h.FS.Rename(path, moved); err != nil {
		return errors.Join(err, h.FS.Remove(cell))
	}
	if now, err = h.FS.Lstat(moved); err != nil || !same(now, item.info) {
		return errors.Join(ErrChanged, err, h.FS.Rename(moved, path), h.FS.Remove(cell))
	}
	return errors.Join(h.FS.Remove(moved), h.FS.Remove(cell), h.FS.SyncDir(h.dir()))
}

func same(a, b vfs.Info) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mtime.Equal(b.Mtime) && a.Mode.Type() == b.Mode.Type()
}

// cell makes the private folder of a deletion.
func (h Home) cell(id string) (string, error) {
	for n := 1; ; n++ {
		path := filepath.Join(h.dir(), "."+id+logSuffix+".prune-"+strconv.Itoa(n))
		if err := h.FS.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// deleteParts removes what belongs to a log that is gone.
func (h Home) deleteParts(id string) error {
	at := filepath.Join(h.dir(), id)
	errs := []error{h.remove(at + sidecarSuffix), h.remove(at + psmLog), h.remove(at + psmStatus), h.deleteArchive(h.history(id))}
	torn, err := h.entries(h.recovered())
	if err != nil {
		errs = append(errs, err)
	}
	for _, e := range torn {
		if tornOf(e.Name()) == id {
			errs = append(errs, h.remove(filepath.Join(h.recovered(), e.Name())))
		}
	}
	return errors.Join(errs...)
}

// tornOf is the session of a piece that was set aside, `<id>-<n>.torn` (decision 16).
func tornOf(name string) string {
	base, ok := strings.CutSuffix(name, ".torn")
	i := strings.LastIndexByte(base, '-')
	if !ok || i < 0 || !isNumber(base[i+1:]) {
		return ""
	}
	return base[:i]
}

func (h Home) remove(path string) error {
	if err := h.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// deleteArchive removes `.history/<id>/`: `<n>.jsonl`, and copies that were cut off.
func (h Home) deleteArchive(path string) error {
	return h.deleteFolder(path, archiveName)
}

// deleteFolder removes a real folder and the files in it that it may hold; with
// any other name in it nothing is removed.
func (h Home) deleteFolder(path string, mayHold func(name string) bool) error {
	info, err := h.FS.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode.IsDir() {
		err = fmt.Errorf("%s is no folder", h.below(path))
	}
	if err != nil {
		return err
	}
	list, err := h.FS.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.IsDir() || !mayHold(e.Name()) {
			return fmt.Errorf("%s holds a name that is not known: %s", h.below(path), strconv.Quote(e.Name()))
		}
	}
	for _, e := range list {
		err = errors.Join(err, h.remove(filepath.Join(path, e.Name())))
	}
	return errors.Join(err, h.remove(path))
}

// deleteOrphan removes a thing whose log is still not there.
func (h Home) deleteOrphan(item Item, path string) error {
	now, err := h.FS.Lstat(path)
	if err != nil || now.Dev != item.info.Dev || now.Ino != item.info.Ino || !now.Mtime.Equal(item.info.Mtime) {
		return errors.Join(ErrChanged, err)
	}
	if _, err := h.FS.Lstat(h.log(item.ID)); !errors.Is(err, fs.ErrNotExist) {
		return ErrChanged // somebody put it back
	}
	switch {
	case filepath.Dir(path) == h.ledgers():
		return nil // dropSnapshots does it, under the lock of all snapshots
	case now.Mode.IsDir():
		return h.deleteArchive(path)
	}
	return h.remove(path)
}
