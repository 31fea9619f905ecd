package inventory

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"magicode/internal/session"
	"magicode/internal/vfs"
)

// Change is one mode that is, or would be, set.
type Change struct {
	Path     string // below the home
	From, To fs.FileMode
}

// LayoutError lists what stands in the way of a repair. Nothing was changed.
type LayoutError struct{ Found []string }

func (e *LayoutError) Error() string {
	return fmt.Sprintf("nothing was changed, because of what is in the folder of sessions:\n  %s", strings.Join(e.Found, "\n  "))
}

// RepairPermissions closes the folder of sessions and what is in it to others:
// folders get mode 0700, logs, archives and sidecars lose every bit of the group
// and of others (storage.md 1.2, 5.1, 5.2). Lock files are meant to be read by
// all and stay; two of them may be names of one file (package lease). With try set it only tells what it would do.
//
// It looks at everything before it changes anything. A name that does not belong
// there, a link, a second hard link or another owner gives a *LayoutError: then
// whoever made the folder has to look at it first. No link is ever followed.
func (h Home) RepairPermissions(try bool) ([]Change, error) {
	r := repair{Home: h}
	root := h.sessions()
	info, err := h.FS.Lstat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode.IsDir() || !r.ours(info):
		return nil, &LayoutError{[]string{h.below(root) + ": not a folder of your own"}}
	}
	r.want(root, info, 0o700)
	if err := r.folder(root, r.primary); err != nil {
		return nil, err
	}
	if len(r.odd) > 0 {
		slices.Sort(r.odd)
		return nil, &LayoutError{r.odd}
	}
	if try {
		return r.changes, nil
	}
	for i, c := range r.changes {
		if err := r.set(c, r.infos[i]); err != nil {
			return r.changes[:i], fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	return r.changes, nil
}

// repair is one survey.
type repair struct {
	Home
	changes []Change
	infos   []vfs.Info // of changes
	odd     []string
}

// rule says what a name is: its mode is to be private, or it may stay as it is,
// or (neither) it does not belong there.
type rule func(name string, dir bool) (private, known bool, inside rule)

// folder looks at everything in a folder.
func (r *repair) folder(path string, of rule) error {
	list, err := r.FS.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := r.look(filepath.Join(path, e.Name()), of); err != nil {
			return err
		}
	}
	return nil
}

func (r *repair) look(path string, of rule) error {
	info, err := r.FS.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a lock that came and went
	}
	if err != nil {
		return err
	}
	isDir := info.Mode.IsDir()
	private, known, inside := of(filepath.Base(path), isDir)
	if why := r.refuses(info, known, private); why != "" {
		r.odd = append(r.odd, strconv.Quote(r.below(path))+": "+why)
		return nil
	}
	want := info.Mode.Perm() &^ 0o077
	switch {
	case isDir && private:
		want = 0o700
	case want&0o400 == 0:
		want = 0o600
	}
	if private {
		r.want(path, info, want)
	}
	if inside != nil {
		return r.folder(path, inside)
	}
	return nil
}

func (r *repair) want(path string, info vfs.Info, mode fs.FileMode) {
	if info.Mode.Perm() == mode {
		return
	}
	r.changes = append(r.changes, Change{Path: r.below(path), From: info.Mode.Perm(), To: mode})
	r.infos = append(r.infos, info)
}

func (r *repair) ours(info vfs.Info) bool { return r.UID < 0 || info.UID == uint32(r.UID) }

func (r *repair) refuses(info vfs.Info, known, private bool) string {
	switch {
	case !info.Mode.IsDir() && !info.Mode.IsRegular():
		return "a link or special file"
	case !known:
		return "not a name that belongs there"
	case !r.ours(info):
		return "owned by another user"
	case private && info.Mode.IsRegular() && info.Nlink != 1:
		return "has a second name (hard link)"
	}
	return ""
}

// primary are the names of sessions/ itself (storage.md 5.1, 1.2; extensions.md 18.3).
func (r *repair) primary(name string, dir bool) (private, known bool, inside rule) {
	switch {
	case dir && name == "subagents":
		return true, true, r.logs
	case dir && name == "summaries":
		return false, true, nil // Mission Control's own
	case !dir && (name == "event-id-sequence" || strings.HasPrefix(name, ".event-id-sequence.") && strings.HasSuffix(name, ".tmp")):
		return true, true, nil
	case !dir && name == ".event-id-sequence.lock":
		return false, true, nil
	}
	return r.logs(name, dir)
}

// logs are the names of a folder of logs.
func (r *repair) logs(name string, dir bool) (private, known bool, inside rule) {
	switch {
	case dir && name == ".history":
		return false, true, archives
	case dir:
		_, ok := quarantined(name)
		return ok, ok, cell
	case lockName(name):
		return false, true, nil
	}
	for _, suffix := range []string{logSuffix, sidecarSuffix, psmLog, psmStatus} {
		if _, ok := idOf(name, suffix); ok {
			return true, true, nil
		}
	}
	return true, temporary(name), nil
}

func archives(name string, dir bool) (private, known bool, inside rule) {
	return false, dir && session.ValidID(name), func(name string, dir bool) (bool, bool, rule) {
		return true, !dir && archiveName(name), nil
	}
}

func cell(name string, dir bool) (private, known bool, inside rule) {
	_, ok := idOf(name, logSuffix)
	return true, ok && !dir, nil
}

// lockName: `.<id>.writer.lock`, `.<id>.active.lock`, `.<id>.jsonl.lock` and
// their guards `..<…>.lock.recovery`.
func lockName(name string) bool {
	if guard, ok := strings.CutSuffix(name, ".recovery"); ok {
		name = strings.TrimPrefix(guard, ".")
	}
	rest, ok := strings.CutPrefix(name, ".")
	for _, suffix := range []string{".writer.lock", ".active.lock", logSuffix + ".lock"} {
		if _, is := idOf(rest, suffix); ok && is {
			return true
		}
	}
	return false
}

// temporary: a log being built, `.<id>.jsonl.compact-<pid>-<n>`, and a sidecar
// being replaced, `.<id>.metadata.json.<pid>.<nanos>.tmp`.
func temporary(name string) bool {
	rest, ok := strings.CutPrefix(name, ".")
	if !ok {
		return false
	}
	if id, tail, found := strings.Cut(rest, logSuffix+".compact-"); found {
		pid, n, dash := strings.Cut(tail, "-")
		return session.ValidID(id) && dash && isNumber(pid) && isNumber(n)
	}
	rest, ok = strings.CutSuffix(rest, ".tmp")
	for _, suffix := range []string{sidecarSuffix, psmStatus} {
		if id, tail, found := strings.Cut(rest, suffix+"."); ok && found {
			pid, nanos, dot := strings.Cut(tail, ".")
			return session.ValidID(id) && dot && isNumber(pid) && isNumber(nanos)
		}
	}
	return false
}

// archiveName: `<n>.jsonl`, and `.<n>.jsonl.compact-tmp` while it is built.
func archiveName(name string) bool {
	if being, ok := strings.CutSuffix(name, ".compact-tmp"); ok && strings.HasPrefix(being, ".") {
		name = being[1:]
	}
	n, ok := strings.CutSuffix(name, logSuffix)
	return ok && isNumber(n)
}

// set changes the mode of exactly the object that was looked at, through a
// descriptor that no link can lead astray. What its owner cannot open is changed
// by name: the folder around it is private by then.
func (r *repair) set(c Change, seen vfs.Info) error {
	path := filepath.Join(r.Root, c.Path)
	f, err := r.FS.Open(path, vfs.Read|vfs.NoFollow|vfs.NonBlock, 0)
	if errors.Is(err, fs.ErrPermission) {
		now, lerr := r.FS.Lstat(path)
		if lerr != nil || now.Dev != seen.Dev || now.Ino != seen.Ino {
			return errors.Join(ErrChanged, lerr)
		}
		return r.FS.Chmod(path, c.To)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || now.Dev != seen.Dev || now.Ino != seen.Ino {
		return errors.Join(ErrChanged, err)
	}
	return f.Chmod(c.To)
}
