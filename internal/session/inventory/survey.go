package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"magicode/internal/session"
	"magicode/internal/vfs"
)

// Kind is what an Item is.
type Kind string

// Kinds.
const (
	KindSession    Kind = "session"    // a log, with all that belongs to it
	KindTask       Kind = "task"       // a delegated task's log, with all that belongs to it
	KindOrphan     Kind = "orphan"     // what belongs to a log that is not there
	KindUnfinished Kind = "unfinished" // a deletion that was cut off
)

// Item is something that can be deleted.
type Item struct {
	Kind   Kind
	ID     string // the session's
	Path   string // below the home
	Bytes  int64  // of the log, or of the orphan
	Latest time.Time
	Title  string

	home Home
	info vfs.Info
}

// Kept is a session that is old enough and stays.
type Kept struct {
	ID  string
	Why string
}

// Plan is what a Survey found.
type Plan struct {
	Items  []Item
	Kept   []Kept
	before time.Time
}

// Survey tells what Delete would delete, by the rules of storage.md 9: sessions
// whose latest activity, tasks whose file, and things without a log whose time
// is earlier than before. It writes nothing but sidecars.
//
// The released program deletes things without a log whatever their time. Here
// they have to be old too: an archived log may be all that is left of a session.
func (h Home) Survey(ctx context.Context, before time.Time) (Plan, error) {
	p := Plan{before: before}
	known := map[string]bool{}
	for _, h := range []Home{h, h.tasks()} {
		entries, err := h.List(ctx)
		if err != nil {
			return Plan{}, err
		}
		for _, e := range entries {
			known[e.ID] = true
			p.weigh(h, e)
		}
		if err := p.leftovers(h); err != nil {
			return Plan{}, err
		}
	}
	return p, p.strayLedgers(h, known)
}

// weigh puts a log into the plan if it is old, and may go.
func (p *Plan) weigh(h Home, e Entry) {
	at, kind := e.Latest, KindSession
	if h.Child {
		at, kind = e.Modified, KindTask
	}
	switch {
	case !at.Before(p.before):
	case e.InUse != nil:
		p.Kept = append(p.Kept, Kept{e.ID, "in use"})
	case session.CheckFile(e.info) != nil:
		p.Kept = append(p.Kept, Kept{e.ID, e.Problem})
	default:
		p.Items = append(p.Items, Item{Kind: kind, ID: e.ID, Path: h.below(h.log(e.ID)), Bytes: e.Bytes, Latest: at, Title: e.Title, home: h, info: e.info})
	}
}

// leftovers finds sidecars and archives without a log, and deletions that were
// cut off.
func (p *Plan) leftovers(h Home) error {
	names, err := h.names()
	if err != nil {
		return err
	}
	for name := range names {
		if id, ok := quarantined(name); ok {
			p.stray(h, id, filepath.Join(h.dir(), name), KindUnfinished)
		}
		for _, suffix := range []string{sidecarSuffix, psmLog, psmStatus} {
			if id, ok := idOf(name, suffix); ok && !names[id+logSuffix] {
				p.stray(h, id, filepath.Join(h.dir(), name), KindOrphan)
			}
		}
	}
	archives, err := h.entries(filepath.Dir(h.history("x")))
	if err != nil {
		return err
	}
	for _, e := range archives {
		if session.ValidID(e.Name()) && !names[e.Name()+logSuffix] {
			p.stray(h, e.Name(), h.history(e.Name()), KindOrphan)
		}
	}
	slices.SortFunc(p.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (p *Plan) strayLedgers(h Home, known map[string]bool) error {
	ledgers, err := h.entries(h.ledgers())
	if err != nil {
		return err
	}
	for _, e := range ledgers {
		if id, ok := idOf(e.Name(), logSuffix); ok && !known[id] {
			p.stray(h, id, filepath.Join(h.ledgers(), e.Name()), KindOrphan)
		}
	}
	return nil
}

// stray takes what has no log, if it is old and no link.
func (p *Plan) stray(h Home, id, path string, kind Kind) {
	info, err := h.FS.Lstat(path)
	if err != nil || !info.Mode.IsRegular() && !info.Mode.IsDir() || kind == KindOrphan && !info.Mtime.Before(p.before) {
		return
	}
	item := Item{Kind: kind, ID: id, Path: h.below(path), Latest: info.Mtime, home: h, info: info}
	if info.Mode.IsRegular() {
		item.Bytes = info.Size
	}
	p.Items = append(p.Items, item)
}

// entries lists a folder of the home, nothing for one that is missing. A link on
// the way below the home is an error: what it leads to is not ours to delete.
func (h Home) entries(dir string) ([]fs.DirEntry, error) {
	at := h.Root
	for part := range strings.SplitSeq(h.below(dir), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := h.FS.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err == nil && !info.Mode.IsDir() {
			err = fmt.Errorf("%s is no folder", h.below(at))
		}
		if err != nil {
			return nil, err
		}
	}
	return h.FS.ReadDir(dir)
}

// below is a path without the home.
func (h Home) below(path string) string {
	rel, err := filepath.Rel(h.Root, path)
	if err != nil {
		return path
	}
	return rel
}

// quarantined takes the id out of the name of a deletion's folder,
// `.<id>.jsonl.prune-<n>` (storage.md 5.1).
func quarantined(name string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(name, ".")
	id, n, found := strings.Cut(rest, logSuffix+".prune-")
	return id, ok && found && session.ValidID(id) && isNumber(n)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
