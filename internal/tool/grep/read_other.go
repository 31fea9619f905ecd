//go:build !linux && !darwin

package grep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// tree reads files below the root of a search.
type tree struct{ root string }

func openTree(root string) (tree, error) { return tree{root}, nil }

func (t tree) close() {}

func (t tree) read(name string, buf []byte, limit int) (data []byte, more bool, err error) {
	path := filepath.Join(t.root, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return buf[:0], false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return buf[:0], false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if len(data) > limit {
		return data[:limit], true, nil
	}
	return data, false, err
}
