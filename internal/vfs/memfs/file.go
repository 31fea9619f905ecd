package memfs

import (
	"io"
	"io/fs"
	"syscall"

	"magicode/internal/vfs"
)

// Open opens or creates a file as open(2) would for the one user there is.
func (m *FS) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.openLocked(name, flags, perm)
	if err != nil {
		return nil, wrap("open", name, err)
	}
	return &file{fs: m, n: n, name: name, flags: flags, epoch: m.epoch}, nil
}

func (m *FS) openLocked(name string, flags vfs.Flag, perm fs.FileMode) (*node, error) {
	exclusive := flags&(vfs.Create|vfs.Exclusive) == vfs.Create|vfs.Exclusive
	dir, base, n, err := m.walkLocked(name, flags&vfs.NoFollow == 0 && !exclusive)
	switch {
	case err != nil:
		return nil, err
	case n == nil && flags&vfs.Create == 0:
		return nil, syscall.ENOENT
	case n == nil:
		n = m.makeLocked(perm.Perm() &^ m.umask)
		return n, m.addLocked(dir, base, n)
	case exclusive:
		return nil, syscall.EEXIST
	}
	if err := openable(n, flags); err != nil {
		return nil, err
	}
	if flags&vfs.Truncate != 0 && writes(flags) {
		m.truncateLocked(n, 0)
	}
	return n, nil
}

func writes(flags vfs.Flag) bool { return flags&(vfs.Write|vfs.Append) != 0 }

func openable(n *node, flags vfs.Flag) error {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return syscall.ELOOP
	case n.mode.IsDir() && writes(flags):
		return syscall.EISDIR
	case !n.mode.IsDir() && flags&vfs.Directory != 0:
		return syscall.ENOTDIR
	case n.mode&fs.ModeNamedPipe != 0 && flags&vfs.NonBlock == 0:
		return syscall.EDEADLK
	case n.mode&fs.ModeNamedPipe != 0 && writes(flags) && flags&vfs.Read == 0:
		return syscall.ENXIO
	case writes(flags) && n.mode&0o200 == 0, (flags&vfs.Read != 0 || !writes(flags)) && n.mode&0o400 == 0:
		return syscall.EACCES
	}
	return nil
}

func (m *FS) truncateLocked(n *node, size int) {
	if size <= len(n.data) {
		n.data = n.data[:size]
	} else {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	n.dirty(min(size, n.clean))
	m.touchLocked(n)
}

type file struct {
	fs     *FS
	n      *node
	name   string
	flags  vfs.Flag
	epoch  int
	off    int
	closed bool
}

// locked runs do under the lock, unless the file is closed or died in a crash.
func (f *file) locked(op string, do func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	switch {
	case f.closed:
		return wrap(op, f.name, fs.ErrClosed)
	case f.epoch != f.fs.epoch:
		return wrap(op, f.name, syscall.EIO)
	}
	return do()
}

func (f *file) Read(p []byte) (n int, err error) {
	err = f.locked("read", func() error {
		n, err = f.readLocked(p, f.off)
		f.off += n
		return err
	})
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.locked("read", func() error {
		n, err = f.readLocked(p, int(off))
		if err == nil && n < len(p) {
			err = io.EOF
		}
		return err
	})
	return n, err
}

func (f *file) readLocked(p []byte, off int) (int, error) {
	switch {
	case f.n.mode.IsDir():
		return 0, wrap("read", f.name, syscall.EISDIR)
	case writes(f.flags) && f.flags&vfs.Read == 0:
		return 0, wrap("read", f.name, syscall.EBADF)
	case len(p) == 0:
		return 0, nil
	case off >= len(f.n.data):
		return 0, io.EOF
	}
	return copy(p, f.n.data[off:]), nil
}

func (f *file) Write(p []byte) (int, error) {
	err := f.locked("write", func() error {
		if !writes(f.flags) {
			return wrap("write", f.name, syscall.EBADF)
		}
		n := f.n
		if f.flags&vfs.Append != 0 {
			f.off = len(n.data)
		}
		n.dirty(f.off)
		if grow := f.off + len(p) - len(n.data); grow > 0 {
			n.data = append(n.data, make([]byte, grow)...)
		}
		copy(n.data[f.off:], p)
		f.off += len(p)
		f.fs.touchLocked(n)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *file) Stat() (info vfs.Info, err error) {
	err = f.locked("fstat", func() error {
		info = f.n.info()
		return nil
	})
	return info, err
}

func (f *file) Chmod(perm fs.FileMode) error {
	return f.locked("chmod", func() error {
		f.n.chmod(perm, f.fs.now())
		return nil
	})
}

func (f *file) Sync() error {
	return f.locked("sync", func() error {
		f.n.sync()
		return nil
	})
}

func (f *file) Truncate(size int64) error {
	return f.locked("truncate", func() error {
		if !writes(f.flags) || size < 0 {
			return wrap("truncate", f.name, syscall.EINVAL)
		}
		f.fs.truncateLocked(f.n, int(size))
		return nil
	})
}

func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.closed = true
	return nil
}
