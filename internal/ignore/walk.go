package ignore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// maxDepth bounds the nesting of directories; deeper ones count as errors.
const maxDepth = 256

// errStop ends a walk from inside.
var errStop = errors.New("stop")

// Entry is one file or directory that a walk found. Path is relative to the
// root of the walk, with slashes.
type Entry struct {
	Path string
	Name string
	Dir  bool
}

// Stats tell how complete a walk was.
type Stats struct {
	Entries int  // visited
	Errors  int  // directories that could not be read
	Omitted int  // names that are no valid UTF-8
	Limited bool // the limit of entries was reached
	Stopped bool // ctx ended, or visit asked for it
}

// Options of a walk.
type Options struct {
	Limit   int  // visited entries; 0: no limit
	Sorted  bool // entries of a directory by name, each directory's content right after it
	Sources Sources
}

// Walk visits what lies below root, a canonical directory: regular files and
// directories that no rule leaves out. visit is called from this goroutine;
// false ends the walk. The walk looks at ctx before each directory.
func Walk(ctx context.Context, fsys vfs.FS, root string, opt Options, visit func(Entry) bool) Stats {
	t, above, rel := newTree(fsys, root, opt.Sources)
	w := &walker{ctx: ctx, tree: t, opt: opt, visit: visit}
	if rel != "" {
		w.skip = len(rel) + 1
	}
	d, err := openRoot(root)
	if err != nil {
		w.stats.Errors++
		return w.stats
	}
	defer d.close()
	if err := w.dir(d, rel, above, 0); err != nil {
		w.stats.Stopped = !w.stats.Limited
	}
	return w.stats
}

type walker struct {
	ctx   context.Context
	tree  *tree
	opt   Options
	visit func(Entry) bool
	skip  int // bytes of a path from the top that precede the path from the root
	stats Stats
}

// dirent is one entry of a directory as the system lists it.
type dirent struct {
	name string
	kind kind
}

type kind uint8

const (
	kindOther kind = iota
	kindFile
	kindDir
)

// dir visits the content of one open directory. rel is its path from the top.
func (w *walker) dir(d directory, rel string, above *scope, depth int) error {
	if w.ctx.Err() != nil {
		return errStop
	}
	list, err := d.list()
	if err != nil {
		w.stats.Errors++
		return nil
	}
	list, has := w.visible(list)
	s := w.tree.enter(above, rel, has)
	if w.opt.Sorted {
		slices.SortFunc(list, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
	}
	prefix := rel
	if prefix != "" {
		prefix += "/"
	}
	for _, e := range list {
		path := prefix + e.name
		if s.excludes(path, e.name, e.kind == kindDir) {
			continue
		}
		if err := w.entry(d, e, path, s, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(d directory, e dirent, path string, s *scope, depth int) error {
	if w.opt.Limit > 0 && w.stats.Entries == w.opt.Limit {
		w.stats.Limited = true
		return errStop
	}
	w.stats.Entries++
	if !w.visit(Entry{Path: path[w.skip:], Name: e.name, Dir: e.kind == kindDir}) {
		return errStop
	}
	if e.kind != kindDir {
		return nil
	}
	if depth == maxDepth {
		w.stats.Errors++
		return nil
	}
	sub, err := d.open(e.name)
	if err != nil {
		w.stats.Errors++
		return nil
	}
	defer sub.close()
	return w.dir(sub, path, s, depth+1)
}

// visible drops what no rule can bring back, in place, and tells which rule
// files there are.
func (w *walker) visible(list []dirent) ([]dirent, ruleFiles) {
	kept := list[:0]
	var has ruleFiles
	for _, e := range list {
		if e.name[0] == '.' {
			switch e.name {
			case ".gitignore":
				has |= hasGitignore
			case ".ignore":
				has |= hasIgnore
			case ".git":
				has |= hasRepo
			}
			continue
		}
		if e.kind == kindOther || e.kind == kindDir && e.name == "target" {
			continue
		}
		if !utf8.ValidString(e.name) {
			w.stats.Omitted++
			continue
		}
		kept = append(kept, e)
	}
	return kept, has
}
