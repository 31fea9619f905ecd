package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"magicode/internal/vfs"
)

// migrateHome turns ~/.mc of old releases into ~/.magi-code. Only the default
// root is ever migrated.
func migrateHome(fsys vfs.FS, p Paths, pid int) (bool, error) {
	old := filepath.Join(p.Home, ".mc")
	if exists(fsys, p.Root) {
		return false, nil
	}
	if info, err := fsys.Stat(old); err != nil || !info.Mode.IsDir() {
		return false, nil
	}
	if fsys.Rename(old, p.Root) == nil {
		return true, nil
	}
	err := copyHome(fsys, old, p.Root, pid)
	if err == nil {
		return true, nil
	}
	if isDir(fsys, p.Root) && !exists(fsys, old) {
		return false, nil // another process did it meanwhile
	}
	return false, &Error{File: old, Reason: "cannot be moved to .magi-code", Err: err}
}

// copyHome is for a rename that crosses file systems: copy beside the target,
// rename into place, remove the old tree.
func copyHome(fsys vfs.FS, old, root string, pid int) error {
	temp := root + ".tmp-" + strconv.Itoa(pid)
	if err := copyTree(fsys, old, temp); err != nil {
		return errors.Join(err, removeTree(fsys, temp))
	}
	if err := fsys.Rename(temp, root); err != nil {
		return errors.Join(err, removeTree(fsys, temp))
	}
	return removeTree(fsys, old)
}

func copyTree(fsys vfs.FS, from, to string) error {
	info, err := fsys.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode.IsDir() {
		return copyFile(fsys, from, to, info)
	}
	if err := fsys.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyTree(fsys, filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(fsys.Chmod(to, info.Mode.Perm()), fsys.SyncDir(to))
}

// copyFile refuses links and devices: a home that holds some is moved by its owner.
func copyFile(fsys vfs.FS, from, to string, info vfs.Info) error {
	if !info.Mode.IsRegular() {
		return &fs.PathError{Op: "copy", Path: from, Err: vfs.ErrNotRegular}
	}
	data, err := vfs.ReadFile(fsys, from, info.Size)
	if err != nil {
		return err
	}
	f, err := fsys.Open(to, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, info.Mode.Perm())
	if err != nil {
		return err
	}
	err = errors.Join(vfs.WriteAll(f, data), f.Chmod(info.Mode.Perm()), f.Sync(), f.Close())
	return errors.Join(err, fsys.Chtimes(to, info.Mtime))
}

func removeTree(fsys vfs.FS, name string) error {
	info, err := fsys.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode.IsDir() {
		entries, err := fsys.ReadDir(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := removeTree(fsys, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return fsys.Remove(name)
}

// migrateAgents renames primary-agents/ to agents/ where only the old name is
// taken.
func migrateAgents(fsys vfs.FS, root string) (bool, error) {
	old, name := filepath.Join(root, "primary-agents"), filepath.Join(root, "agents")
	info, err := fsys.Lstat(old)
	if err != nil || !info.Mode.IsDir() || exists(fsys, name) {
		return false, nil
	}
	err = fsys.Rename(old, name)
	if err == nil {
		return true, nil
	}
	if isDir(fsys, name) && !exists(fsys, old) {
		return false, nil
	}
	return false, &Error{File: old, Reason: "cannot be renamed to agents", Err: err}
}

// exists counts a dangling link as existing, and what cannot be looked at too.
func exists(fsys vfs.FS, name string) bool {
	_, err := fsys.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func isDir(fsys vfs.FS, name string) bool {
	info, err := fsys.Stat(name)
	return err == nil && info.Mode.IsDir()
}
