//go:build !linux

package tool

import (
	"fmt"
	"path/filepath"

	"magicode/internal/vfs"
)

// anchor is a directory by its canonical path. Where names cannot be spelled
// through a descriptor, the path is resolved again right before it is used:
// what remains is the moment between the two.
type anchor struct{ dir string }

func openAnchor(fsys vfs.FS, dir string) (anchor, error) {
	a := anchor{dir}
	return a, a.verify(fsys)
}

func (a anchor) child(fsys vfs.FS, name string) (anchor, error) {
	return openAnchor(fsys, filepath.Join(a.dir, name))
}

func (a anchor) name(base string) string { return filepath.Join(a.dir, base) }

func (a anchor) verify(fsys vfs.FS) error {
	real, err := fsys.EvalSymlinks(a.dir)
	if err != nil {
		return err
	}
	if real != a.dir {
		return fmt.Errorf("%w: %s", ErrLink, a.dir)
	}
	return nil
}

func (a anchor) close() {}
