package memfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// addLocked creates base in dir.
func (m *FS) addLocked(dir *node, base string, n *node) error {
	if dir == nil {
		return syscall.EEXIST // the root, or a name that ends in ".."
	}
	if dir.mode&0o200 == 0 {
		return syscall.EACCES
	}
	dir.children[base] = n
	n.nlink++
	m.touchLocked(dir)
	return nil
}

func (m *FS) touchLocked(n *node) {
	at := m.now()
	n.mtime, n.ctime = at, at
}

func (m *FS) createLocked(name string, mode fs.FileMode) error {
	dir, base, n, err := m.walkLocked(name, false)
	switch {
	case err != nil:
		return err
	case n != nil:
		return syscall.EEXIST
	}
	return m.addLocked(dir, base, m.makeLocked(mode))
}

// Mkdir makes one directory; perm is reduced by the umask.
func (m *FS) Mkdir(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return wrap("mkdir", name, m.createLocked(name, fs.ModeDir|perm.Perm()&^m.umask))
}

// MkdirAll makes a directory and its parents.
func (m *FS) MkdirAll(name string, perm fs.FileMode) error {
	if info, err := m.Stat(name); err == nil {
		if !info.Mode.IsDir() {
			return wrap("mkdir", name, syscall.ENOTDIR)
		}
		return nil
	}
	if parent := filepath.Dir(name); parent != name {
		if err := m.MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := m.Mkdir(name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Rename moves oldName over newName.
func (m *FS) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return wrap("rename", newName, m.renameLocked(oldName, newName))
}

func (m *FS) renameLocked(oldName, newName string) error {
	from, oldBase, n, err := m.walkLocked(oldName, false)
	if err != nil {
		return err
	}
	to, newBase, over, err := m.walkLocked(newName, false)
	switch {
	case err != nil:
		return err
	case n == nil:
		return syscall.ENOENT
	case from == nil || to == nil:
		return syscall.EBUSY
	case from.mode&0o200 == 0 || to.mode&0o200 == 0:
		return syscall.EACCES
	case over == n:
		return nil
	case over != nil && over.mode.IsDir() && !n.mode.IsDir():
		return syscall.EISDIR
	case over != nil && !over.mode.IsDir() && n.mode.IsDir():
		return syscall.ENOTDIR
	case over != nil && len(over.children) > 0:
		return syscall.ENOTEMPTY
	}
	if over != nil {
		over.nlink--
	}
	delete(from.children, oldBase)
	to.children[newBase] = n
	m.touchLocked(from)
	m.touchLocked(to)
	n.ctime = m.now()
	return nil
}

// Remove unlinks a file or an empty directory.
func (m *FS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, n, err := m.walkLocked(name, false)
	switch {
	case err != nil:
	case n == nil:
		err = syscall.ENOENT
	case dir == nil:
		err = syscall.EBUSY
	case dir.mode&0o200 == 0:
		err = syscall.EACCES
	case len(n.children) > 0:
		err = syscall.ENOTEMPTY
	default:
		delete(dir.children, base)
		n.nlink--
		n.ctime = m.now()
		m.touchLocked(dir)
	}
	return wrap("remove", name, err)
}

// Chmod follows links.
func (m *FS) Chmod(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, true)
	if err == nil {
		n.chmod(perm, m.now())
	}
	return wrap("chmod", name, err)
}

func (n *node) chmod(perm fs.FileMode, at time.Time) {
	n.mode = n.mode&^fs.ModePerm | perm.Perm()
	n.ctime = at
}

// Chtimes sets mtime; ctime becomes now.
func (m *FS) Chtimes(name string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, false)
	if err == nil {
		n.mtime, n.ctime = at, m.now()
	}
	return wrap("chtimes", name, err)
}

// Symlink, Mkfifo and Chown set up what the program must refuse.
func (m *FS) Symlink(target, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.createLocked(name, fs.ModeSymlink|0o777)
	if err == nil {
		_, _, n, _ := m.walkLocked(name, false)
		n.target = target
	}
	return wrap("symlink", name, err)
}

// Mkfifo makes a named pipe; an Open without NonBlock fails with EDEADLK,
// since a real one would wait for ever.
func (m *FS) Mkfifo(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return wrap("mkfifo", name, m.createLocked(name, fs.ModeNamedPipe|perm))
}

// Link gives an existing file a second name.
func (m *FS) Link(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(oldName, false)
	if err != nil {
		return wrap("link", oldName, err)
	}
	dir, base, over, err := m.walkLocked(newName, false)
	if err == nil && over != nil {
		err = syscall.EEXIST
	}
	if err == nil {
		err = m.addLocked(dir, base, n)
	}
	return wrap("link", newName, err)
}

// Chown changes the owner.
func (m *FS) Chown(name string, uid uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, false)
	if err == nil {
		n.uid = uid
	}
	return wrap("chown", name, err)
}
