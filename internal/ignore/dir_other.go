//go:build !linux

package ignore

import (
	"errors"
	"os"
	"path/filepath"
)

// directory is a directory by its path.
type directory struct{ path string }

func openRoot(path string) (directory, error) { return directory{path}, nil }

func (d directory) open(name string) (directory, error) {
	path := filepath.Join(d.path, name)
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return directory{path}, err
}

func (d directory) close() {}

func (d directory) list() ([]dirent, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	out := make([]dirent, 0, len(entries))
	for _, e := range entries {
		k := kindOther
		switch {
		case e.Type().IsRegular():
			k = kindFile
		case e.IsDir():
			k = kindDir
		}
		out = append(out, dirent{e.Name(), k})
	}
	return out, nil
}
