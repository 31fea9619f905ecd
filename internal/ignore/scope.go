package ignore

import (
	"path/filepath"
	"strings"

	"magicode/internal/vfs"
)

// scope is the stack of rules that hold for the entries of one directory. A
// directory without rules of its own shares its parent's.
type scope struct {
	parent *scope
	base   string // directory of the rules, relative to the top; "" is the top
	git    *list  // its .gitignore
	own    *list  // its .ignore
	repo   *repo  // set where a repository starts: git rules above do not count
}

// rel is the path relative to the scope's directory.
func (s *scope) rel(path string) string {
	if s.base == "" {
		return path
	}
	return path[len(s.base)+1:]
}

// excludes decides about one entry by its own path; an excluded parent is the
// walker's business. path is relative to the top, with slashes.
func (s *scope) excludes(path, name string, dir bool) bool {
	for at := s; at != nil; at = at.parent {
		if at.own != nil {
			if d := at.own.decide(at.rel(path), name, dir); d != unknown {
				return d == excluded
			}
		}
	}
	for at := s; at != nil; at = at.parent {
		if at.git != nil {
			if d := at.git.decide(at.rel(path), name, dir); d != unknown {
				return d == excluded
			}
		}
		if at.repo != nil {
			return at.repoExcludes(path, name, dir)
		}
	}
	return false
}

func (s *scope) repoExcludes(path, name string, dir bool) bool {
	for _, l := range []*list{s.repo.exclude, s.repo.excludes} {
		if l != nil {
			if d := l.decide(s.rel(path), name, dir); d != unknown {
				return d == excluded
			}
		}
	}
	return false
}

// tree is the part of the file system whose rules count: from the repository's
// top, or the root of the walk without one.
type tree struct {
	fs  vfs.FS
	src Sources
	top string
}

// enter returns the scope of a directory's entries. has tells which rule files
// the directory holds, so that no open is tried in vain.
func (t *tree) enter(parent *scope, rel string, has ruleFiles) *scope {
	if has == 0 {
		return parent
	}
	s := &scope{parent: parent, base: rel}
	dir := filepath.Join(t.top, filepath.FromSlash(rel))
	if has&hasGitignore != 0 {
		s.git = readList(t.fs, filepath.Join(dir, ".gitignore")) // git follows no link here
	}
	if has&hasIgnore != 0 {
		s.own = readList(t.fs, filepath.Join(dir, ".ignore"), vfs.Follow)
	}
	if has&hasRepo != 0 {
		s.repo = openRepo(t.fs, dir, t.src)
	}
	if s.git == nil && s.own == nil && s.repo == nil {
		return parent
	}
	return s
}

// ruleFiles is a set.
type ruleFiles uint8

const (
	hasGitignore ruleFiles = 1 << iota
	hasIgnore
	hasRepo
)

const allRuleFiles = hasGitignore | hasIgnore | hasRepo

// newTree finds the top for a canonical directory and the scope of dir's
// parent; rel is dir relative to the top.
func newTree(fsys vfs.FS, dir string, src Sources) (t *tree, above *scope, rel string) {
	t = &tree{fs: fsys, src: src, top: dir}
	r := findRepo(fsys, dir, src)
	if r == nil || r.top == dir {
		return t, nil, ""
	}
	t.top = r.top
	rel = filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(dir, r.top), string(filepath.Separator)))
	at := ""
	for _, part := range strings.Split(rel, "/") {
		above = t.enter(above, at, allRuleFiles)
		if at != "" {
			at += "/"
		}
		at += part
	}
	return t, above, rel
}
