package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// Errors of the path policy.
var (
	ErrEscapes    = errors.New("path escapes cwd")
	ErrLink       = errors.New("path is a symbolic link")
	ErrNotRegular = errors.New("not a regular file")
	ErrNotFound   = errors.New("no such file or directory")
)

// Policy is one tool's rule about paths: tools.md 1.4. It guards against
// accidents and is no sandbox.
type Policy struct {
	Tool     string // canonical name, for the setting that errors name
	Absolute bool   // capabilities.tools.<tool>.absolute_paths
}

// Path is a path that the policy let through.
type Path struct {
	Canonical string
	Inside    bool // inside the canonical cwd, or that itself
}

// Existing resolves the path of something that exists, links included.
func (p Policy) Existing(fsys vfs.FS, env Env, arg string) (Path, error) {
	full, err := join(env, arg)
	if err != nil {
		return Path{}, err
	}
	canonical, err := fsys.EvalSymlinks(full)
	if err != nil {
		// What would have escaped is refused as such, whether it is there or not.
		if _, out := p.check(env, arg, lexical(env, full)); out != nil {
			return Path{}, out
		}
		return Path{}, pathError(arg, err)
	}
	return p.check(env, arg, canonical)
}

// check applies the inside test to a resolved path.
func (p Policy) check(env Env, arg, canonical string) (Path, error) {
	inside := Inside(env.CanonicalCwd, canonical)
	if !inside && (!filepath.IsAbs(arg) || !p.Absolute) {
		return Path{}, p.escapes(arg)
	}
	return Path{Canonical: canonical, Inside: inside}, nil
}

func (p Policy) escapes(arg string) error {
	if filepath.IsAbs(arg) {
		return fmt.Errorf("%w: %s (absolute paths outside of it are off: capabilities.tools.%s.absolute_paths)", ErrEscapes, arg, p.Tool)
	}
	return fmt.Errorf("%w: %s (a relative path cannot leave it; an absolute one can if capabilities.tools.%s.absolute_paths is true)", ErrEscapes, arg, p.Tool)
}

// join makes arg absolute without cleaning it: "link/.." means what the kernel
// takes it for.
func join(env Env, arg string) (string, error) {
	if arg == "" || strings.IndexByte(arg, 0) >= 0 {
		return "", errors.New("the path is empty or holds a NUL byte")
	}
	if filepath.IsAbs(arg) {
		return arg, nil
	}
	return env.CanonicalCwd + string(filepath.Separator) + arg, nil
}

// lexical cleans a path without looking at the file system, and spells one
// below cwd as it was given by the canonical cwd.
func lexical(env Env, full string) string {
	full = filepath.Clean(full)
	if Inside(env.Cwd, full) {
		return filepath.Clean(env.CanonicalCwd + full[len(env.Cwd):])
	}
	return full
}

// Inside reports whether path is dir or lies below it; both are clean.
func Inside(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && dir != "" && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// Display shows a canonical path relative to cwd with slashes, or absolute when
// it lies outside.
func Display(env Env, path string) string {
	if path == env.CanonicalCwd {
		return "."
	}
	if Inside(env.CanonicalCwd, path) {
		path = strings.TrimPrefix(path[len(env.CanonicalCwd):], string(filepath.Separator))
	}
	return filepath.ToSlash(path)
}

// pathError words a file system error for the model.
func pathError(arg string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrNotFound, arg)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("permission denied: %s", arg)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%v: %s", err, arg)
}

// New resolves the path of something that may not exist yet. The nearest
// existing ancestor is resolved; a final link, or a final component that is no
// regular file, is refused.
func (p Policy) New(fsys vfs.FS, env Env, arg string) (Target, error) {
	full, err := join(env, arg)
	if err != nil {
		return Target{}, err
	}
	full = lexical(env, full)
	if _, err := p.check(env, arg, full); err != nil {
		return Target{}, err
	}
	if strings.HasSuffix(filepath.ToSlash(arg), "/") || full == env.CanonicalCwd || full == filepath.Dir(full) {
		return Target{}, fmt.Errorf("path names a directory: %s", arg)
	}
	t := Target{arg: arg, policy: p, env: env}
	dir, missing := filepath.Dir(full), []string(nil)
	for {
		if t.Dir, err = fsys.EvalSymlinks(dir); err == nil {
			break
		}
		if _, lerr := fsys.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || lerr == nil || dir == filepath.Dir(dir) {
			return Target{}, pathError(arg, err) // a dangling link is no missing directory
		}
		missing = append(missing, filepath.Base(dir))
		dir = filepath.Dir(dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		t.missing = append(t.missing, missing[i])
	}
	t.Name = filepath.Base(full)
	at, err := p.check(env, arg, t.Path())
	if err != nil {
		return Target{}, err
	}
	t.Inside = at.Inside
	return t, t.checkFinal(fsys, t.Path())
}

// Target is where a write goes: an existing, resolved directory, the
// directories to make below it, and a name.
type Target struct {
	Dir    string
	Name   string
	Inside bool

	missing []string
	arg     string
	policy  Policy
	env     Env
}

// Path is the canonical path that the file has, or will have.
func (t Target) Path() string {
	return filepath.Join(append(append([]string{t.Dir}, t.missing...), t.Name)...)
}

// checkFinal refuses a final link and anything but a regular file.
func (t Target) checkFinal(fsys vfs.FS, name string) error {
	info, err := fsys.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return pathError(t.arg, err)
	case info.Mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %s", ErrLink, t.arg)
	case !info.Mode.IsRegular():
		return fmt.Errorf("%w: %s", ErrNotRegular, t.arg)
	}
	return nil
}

// ShowName makes a file name fit for a line of a listing: a name with control
// characters or invalid UTF-8 is quoted.
func ShowName(name string) string {
	if utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0 {
		return name
	}
	return strconv.Quote(name)
}
