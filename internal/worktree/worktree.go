// Package worktree finds the path under which sessions of one repository are
// grouped: the main work tree of the git repository that a folder is in, or the
// folder itself (storage.md 6.1). It reads git's own files instead of starting
// git, because the first turn of every child would wait for that.
package worktree

import (
	"path/filepath"
	"strings"

	"magicode/internal/vfs"
)

// maxPointerBytes bounds the small files that point from one place to another.
const maxPointerBytes = 64 << 10

// Main returns the main work tree of the repository that dir is in, its links
// resolved, or dir where there is none or git's layout is not understood. dir
// is canonical.
func Main(fsys vfs.FS, dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		info, err := fsys.Lstat(dot)
		switch {
		case err != nil:
		case info.Mode.IsDir():
			if insideGit(dir, dot) || !isRepository(fsys, dot) {
				return dir
			}
			return at
		case info.Mode.IsRegular():
			return linked(fsys, dot, at, dir)
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// insideGit: inside the repository's own folder there is no work tree.
func insideGit(dir, dot string) bool {
	return dir == dot || strings.HasPrefix(dir, dot+string(filepath.Separator))
}

// isRepository holds a folder named .git against what git itself asks of one.
func isRepository(fsys vfs.FS, dot string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := fsys.Lstat(filepath.Join(dot, name)); err != nil {
			return false
		}
	}
	return true
}

// linked follows the .git file of a linked work tree or a submodule. at is the
// folder of that file.
func linked(fsys vfs.FS, file, at, dir string) string {
	gitdir, ok := pointer(fsys, file, "gitdir: ")
	if !ok {
		return dir
	}
	if !filepath.IsAbs(gitdir) {
		gitdir = filepath.Join(at, gitdir)
	}
	common, ok := pointer(fsys, filepath.Join(gitdir, "commondir"), "")
	if !ok {
		return at // a submodule is a repository of its own
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitdir, common)
	}
	main := common // of a bare repository
	if filepath.Base(common) == ".git" {
		main = filepath.Dir(common)
	}
	if resolved, err := fsys.EvalSymlinks(main); err == nil {
		return resolved
	}
	return dir
}

// pointer reads a file of one line that starts with prefix.
func pointer(fsys vfs.FS, name, prefix string) (string, bool) {
	data, err := vfs.ReadFile(fsys, name, maxPointerBytes)
	if err != nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	return rest, ok && rest != "" && !strings.ContainsAny(rest, "\n\x00")
}
