//go:build linux || darwin

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type osFS struct{}

// OS returns the file system of the operating system. It has no state.
func OS() FS { return osFS{} }

func (osFS) Open(name string, flags Flag, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, openFlags(flags), perm)
	if err != nil {
		return nil, err
	}
	return &osFile{f: f, name: name}, nil
}

func openFlags(f Flag) int {
	how := os.O_RDONLY
	switch {
	case f&(Write|Append) != 0 && f&Read != 0:
		how = os.O_RDWR
	case f&(Write|Append) != 0:
		how = os.O_WRONLY
	}
	for _, p := range [...]struct {
		flag Flag
		how  int
	}{
		{Append, os.O_APPEND}, {Create, os.O_CREATE}, {Exclusive, os.O_EXCL}, {Truncate, os.O_TRUNC},
		{NoFollow, unix.O_NOFOLLOW}, {NonBlock, unix.O_NONBLOCK}, {Directory, unix.O_DIRECTORY},
	} {
		if f&p.flag != 0 {
			how |= p.how
		}
	}
	return how
}

func (osFS) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (osFS) Link(oldName, newName string) error           { return os.Link(oldName, newName) }
func (osFS) Remove(name string) error                     { return os.Remove(name) }
func (osFS) Chmod(name string, perm fs.FileMode) error    { return os.Chmod(name, perm) }

func (osFS) Rename(oldName, newName string) error {
	err := retry(func() error { return syscall.Rename(oldName, newName) })
	return pathError("rename", newName, err)
}

func (osFS) Chtimes(name string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return pathError("chtimes", name, err)
	}
	err = retry(func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
	return pathError("chtimes", name, err)
}

func (osFS) Stat(name string) (Info, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(name, &st)
		if err == nil {
			return infoOf(&st), nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return Info{}, pathError("stat", name, err)
		}
	}
}

func (osFS) Lstat(name string) (Info, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Lstat(name, &st)
		if err == nil {
			return infoOf(&st), nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return Info{}, pathError("lstat", name, err)
		}
	}
}

func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) EvalSymlinks(name string) (string, error)   { return filepath.EvalSymlinks(name) }

func (osFS) SyncDir(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // this file system cannot sync a directory; there is nothing to wait for
	}
	return err
}

// infoOf reads no more than the fields of Info; the timestamps have other
// names on each system (statTimes).
func infoOf(st *syscall.Stat_t) Info {
	mtime, ctime := statTimes(st)
	return Info{
		Dev: uint64(st.Dev), Ino: st.Ino, Nlink: uint64(st.Nlink), UID: st.Uid,
		Mode: modeOf(uint32(st.Mode)), Size: st.Size, Mtime: mtime, Ctime: ctime,
	}
}

func modeOf(raw uint32) fs.FileMode {
	m := fs.FileMode(raw & 0o777)
	switch raw & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	}
	for _, b := range [...]struct {
		raw  uint32
		mode fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if raw&b.raw != 0 {
			m |= b.mode
		}
	}
	return m
}

func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// osFile is used by one goroutine at a time, except that Close may race.
type osFile struct {
	f    *os.File
	name string
}

func (o *osFile) Read(p []byte) (int, error)              { return o.f.Read(p) }
func (o *osFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }
func (o *osFile) Write(p []byte) (int, error)             { return o.f.Write(p) }
func (o *osFile) Chmod(perm fs.FileMode) error            { return o.f.Chmod(perm) }
func (o *osFile) Truncate(size int64) error               { return o.f.Truncate(size) }

func (o *osFile) Stat() (Info, error) {
	defer runtime.KeepAlive(o.f)
	var st syscall.Stat_t
	for {
		err := syscall.Fstat(int(o.f.Fd()), &st)
		if err == nil {
			return infoOf(&st), nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return Info{}, pathError("fstat", o.name, err)
		}
	}
}

func (o *osFile) Sync() error {
	return pathError("sync", o.name, syncData(o.f))
}

func (o *osFile) Close() error {
	if err := o.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
