package faultfs

import (
	"io/fs"
	"time"

	"magicode/internal/vfs"
)

// Open opens a file whose own operations are counted too.
func (f *FS) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	v := f.next(Open, name)
	if v.spoilt() && v.effect != Late {
		return nil, v.err
	}
	in, err := f.inner.Open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	if v.spoilt() {
		in.Close()
		return nil, v.err
	}
	return &file{fs: f, in: in, name: name}, nil
}

func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.run(Mkdir, name, func() error { return f.inner.Mkdir(name, perm) })
}

func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	return f.run(MkdirAll, name, func() error { return f.inner.MkdirAll(name, perm) })
}

func (f *FS) Rename(oldName, newName string) error {
	return f.run(Rename, newName, func() error { return f.inner.Rename(oldName, newName) })
}

func (f *FS) Link(oldName, newName string) error {
	return f.run(Link, newName, func() error { return f.inner.Link(oldName, newName) })
}

func (f *FS) Remove(name string) error {
	return f.run(Remove, name, func() error { return f.inner.Remove(name) })
}

func (f *FS) Chmod(name string, perm fs.FileMode) error {
	return f.run(Chmod, name, func() error { return f.inner.Chmod(name, perm) })
}

func (f *FS) Chtimes(name string, at time.Time) error {
	return f.run(Chtimes, name, func() error { return f.inner.Chtimes(name, at) })
}

func (f *FS) SyncDir(name string) error {
	return f.run(SyncDir, name, func() error { return f.inner.SyncDir(name) })
}

func (f *FS) Stat(name string) (info vfs.Info, err error) {
	err = f.run(Stat, name, func() error { info, err = f.inner.Stat(name); return err })
	return info, err
}

func (f *FS) Lstat(name string) (info vfs.Info, err error) {
	err = f.run(Lstat, name, func() error { info, err = f.inner.Lstat(name); return err })
	return info, err
}

func (f *FS) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = f.run(ReadDir, name, func() error { list, err = f.inner.ReadDir(name); return err })
	return list, err
}

func (f *FS) EvalSymlinks(name string) (path string, err error) {
	err = f.run(EvalSymlinks, name, func() error { path, err = f.inner.EvalSymlinks(name); return err })
	return path, err
}

// file passes on to the wrapped file.
type file struct {
	fs   *FS
	in   vfs.File
	name string
}

func (f *file) Read(p []byte) (int, error) {
	return f.read(Read, p, f.in.Read)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.read(ReadAt, p, func(p []byte) (int, error) { return f.in.ReadAt(p, off) })
}

// read gives half of what was asked for when it is shortened: legal for Read;
// ReadAt must say why it is short.
func (f *file) read(op Op, p []byte, do func([]byte) (int, error)) (int, error) {
	v := f.fs.next(op, f.name)
	if v.spoilt() && v.effect != Shorten {
		return 0, v.err
	}
	if v.spoilt() {
		n, err := do(p[:(len(p)+1)/2])
		if err == nil && op == ReadAt {
			err = v.err
		}
		return n, err
	}
	return do(p)
}

func (f *file) Write(p []byte) (int, error) {
	v := f.fs.next(Write, f.name)
	switch {
	case !v.spoilt():
		return f.in.Write(p)
	case v.effect == Shorten:
		n, err := f.in.Write(p[:len(p)/2])
		if err == nil {
			err = v.err
		}
		return n, err
	case v.effect == Late:
		n, err := f.in.Write(p)
		if err == nil {
			err = v.err
		}
		return n, err
	}
	return 0, v.err
}

func (f *file) Stat() (info vfs.Info, err error) {
	err = f.fs.run(FStat, f.name, func() error { info, err = f.in.Stat(); return err })
	return info, err
}

func (f *file) Chmod(perm fs.FileMode) error {
	return f.fs.run(FChmod, f.name, func() error { return f.in.Chmod(perm) })
}

func (f *file) Sync() error { return f.fs.run(Sync, f.name, f.in.Sync) }

func (f *file) Truncate(size int64) error {
	return f.fs.run(Truncate, f.name, func() error { return f.in.Truncate(size) })
}

// Close always closes, so that a spoilt run leaks nothing.
func (f *file) Close() error {
	v := f.fs.next(Close, f.name)
	if err := f.in.Close(); err != nil {
		return err
	}
	return v.err
}
