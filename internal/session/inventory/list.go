package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"magicode/internal/session"
	"magicode/internal/vfs"
)

// Entry is one session.
type Entry struct {
	ID         string
	Title      string // "" without one
	FirstInput string // the first prompt since the title, redacted; "" without one
	Workspace  string // the folder or git repository it belongs to; "" if no record says so
	Latest     time.Time
	Modified   time.Time
	Bytes      int64
	UserInputs int
	InUse      *Use   // nil: nobody has it
	Problem    string // why the log cannot be read; "" usually

	info vfs.Info
}

// Use is who has a session.
type Use struct {
	PID int // 0: the lock file does not say
}

// List returns the sessions of the home, latest activity first. Latest is the
// time of the latest record, that of the file where none can be read. Valid
// sidecars stand for logs that need not be read; one that is missing or stale
// is written anew, unless the session is in use. A missing folder is an empty
// list. The error is that of the folder, or the context's cause.
func (h Home) List(ctx context.Context) ([]Entry, error) {
	names, err := h.names()
	if err != nil {
		return nil, err
	}
	var ids []string
	for name := range names {
		if id, ok := idOf(name, logSuffix); ok {
			ids = append(ids, id)
		}
	}
	entries := make([]Entry, len(ids))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ids)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(ids) {
					return
				}
				entries[i] = h.entry(ctx, ids[i], names)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.ID == "" })
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Or(b.Latest.Compare(a.Latest), strings.Compare(a.ID, b.ID)) })
	return entries, nil
}

// names reads the folder once, after holding it against storage.md 1.2.
func (h Home) names() (map[string]bool, error) {
	for _, dir := range slices.Compact([]string{h.sessions(), h.dir()}) {
		info, err := h.FS.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err == nil {
			err = privateDir(info, h.UID)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	list, err := h.FS.ReadDir(h.dir())
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(list))
	for _, e := range list {
		names[e.Name()] = true
	}
	return names, nil
}

// ErrNotPrivate: a folder of sessions is none that may be used.
var ErrNotPrivate = errors.New("not a folder of your own with mode 0700; 'magi-code sessions repair-permissions' sets modes right")

func privateDir(info vfs.Info, uid int) error {
	if !info.Mode.IsDir() || uid >= 0 && info.UID != uint32(uid) || info.Mode.Perm()&0o077 != 0 {
		return ErrNotPrivate
	}
	return nil
}

// entry is empty for a log that has gone since the folder was read.
func (h Home) entry(ctx context.Context, id string, names map[string]bool) Entry {
	info, err := h.FS.Lstat(h.log(id))
	if err != nil {
		return Entry{}
	}
	e := Entry{ID: id, Bytes: info.Size, Modified: info.Mtime, Latest: info.Mtime, info: info, InUse: h.use(id, names)}
	if err := session.CheckFile(info); err != nil {
		e.Problem = "a link, or open to others, or another user's"
		return e
	}
	m, ok := session.ReadSidecar(h.FS, h.dir(), id)
	if !ok {
		if m, err = h.read(ctx, &e); err != nil {
			e.Problem = problem(err)
			return e
		}
	}
	e.Title, e.FirstInput, e.Workspace, e.UserInputs = m.Title, m.FirstInput, m.SessionPath, m.UserInputs
	if at, ok := m.Latest(); ok {
		e.Latest = at
	}
	return e
}

// IDs returns the ids that begin with prefix, in order; prefix itself alone if it
// is one.
func (h Home) IDs(prefix string) ([]string, error) {
	names, err := h.names()
	if err != nil {
		return nil, err
	}
	if names[prefix+logSuffix] {
		return []string{prefix}, nil
	}
	var ids []string
	for name := range names {
		if id, ok := idOf(name, logSuffix); ok && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Read hands the records of a session to the folds, as session.Store.Look does.
func (h Home) Read(ctx context.Context, id string, folds ...session.Fold) (session.ReadInfo, error) {
	info, _, err := h.store().Look(ctx, id, folds...)
	return info, err
}

func (h Home) store() *session.Store {
	return session.NewStore(session.Options{FS: h.FS, Dir: h.dir(), SessionPath: func() string { return "" }, Child: h.Child})
}

// read folds a log, and keeps the result for the next time.
func (h Home) read(ctx context.Context, e *Entry) (session.Meta, error) {
	var m session.Meta
	dir := h.dir()
	found, info, err := h.store().Look(ctx, e.ID, &m)
	if err != nil {
		return m, err
	}
	if now, err := h.FS.Lstat(h.log(e.ID)); err == nil && !found.Torn && e.InUse == nil && now.Size == info.Size && now.Mtime.Equal(info.Mtime) {
		_ = session.SaveMeta(h.FS, dir, e.ID, m, info) // without it the next list reads the log again
	}
	return m, nil
}

// use is Use, if the folder had a lock file of the session when it was read.
func (h Home) use(id string, names map[string]bool) *Use {
	if !names["."+id+".writer.lock"] && !names["."+id+".active.lock"] {
		return nil
	}
	return h.Use(id)
}

// Use tells who has a session, nil for nobody. A lock file that cannot be read
// counts as somebody's.
func (h Home) Use(id string) *Use {
	for _, target := range h.locks(id)[:2] {
		pid, held, err := h.Leases.Holder(target)
		if held || err != nil {
			return &Use{PID: pid}
		}
	}
	return nil
}

// problem names the reason without the path, which the reader has already.
func problem(err error) string {
	switch {
	case errors.Is(err, session.ErrLimit):
		return "over 100,000 lines or 64 MiB"
	case errors.Is(err, fs.ErrPermission):
		return "not readable"
	case errors.Is(err, session.ErrInvalid):
		return "malformed records"
	}
	return "not readable"
}
