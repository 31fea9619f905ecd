//go:build unix

package rawfile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// OpenDir opens a folder that is our own, that nobody but access allows may
// write to, and that is on a local disk with room. make creates it, with mode 0700, in a
// folder that exists.
func OpenDir(path string, create bool, access Access) (int, error) {
	if create {
		if err := unix.Mkdir(path, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, DirMissing
		}
	}
	fd, err := unix.Open(path, dirFlags, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, DirMissing
	case err != nil:
		return -1, DirUnsafe
	}
	if err := safeDir(fd, access); err != nil {
		Close(fd)
		return -1, err
	}
	return fd, nil
}

func safeDir(fd int, access Access) error {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || uint32(st.Mode)&unix.S_IFMT != unix.S_IFDIR {
		return DirUnsafe
	}
	if int(st.Uid) != os.Geteuid() {
		return DirOwner
	}
	forbidden := map[Access]uint32{OwnerOnly: unix.S_IWOTH | unix.S_IWGRP, GroupToo: unix.S_IWOTH}[access]
	if uint32(st.Mode)&forbidden != 0 {
		return DirUnsafe
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return DirUnsafe
	}
	return safeDisk(&fs, access)
}

func safeDisk(fs *unix.Statfs_t, access Access) error {
	if remote(fs) {
		return DirNetwork
	}
	if access != Anyone && freeOf(fs) < FreeBytes {
		return DiskFull
	}
	return nil
}

func freeOf(fs *unix.Statfs_t) int64 {
	return int64(min(uint64(fs.Bavail)*uint64(fs.Bsize), 1<<62))
}

// Free is how many bytes are free where a folder is.
func Free(dir int) int64 {
	var fs unix.Statfs_t
	if unix.Fstatfs(dir, &fs) != nil {
		return 0
	}
	return freeOf(&fs)
}

// Create makes a regular file that must not exist, for appending.
func Create(dir int, name string, mode uint32) (int, error) {
	const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags, 0o600)
	if err != nil {
		return -1, FileOpen
	}
	if unix.Fchmod(fd, mode) != nil || !regular(fd) {
		Close(fd)
		return -1, FileOpen
	}
	return fd, nil
}

// regular reports a file that is one, under one name.
func regular(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1
}

// Append writes all of p. The error is DiskFull or FileIO.
func Append(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := unix.Write(fd, p)
		if n > 0 {
			p = p[n:]
		}
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSPC):
			return DiskFull
		case err != nil:
			return FileIO
		}
	}
	return nil
}

// Truncate cuts a file.
func Truncate(fd int, size int64) error { return unix.Ftruncate(fd, size) }

// Replace puts data in the place of dir's file name, by a temporary file beside
// it. The old file stays as it is when that fails.
func Replace(dir int, name string, data []byte, mode uint32) error {
	tmp := "." + name + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	Remove(dir, tmp) // of a process that had our number and died
	fd, err := Create(dir, tmp, mode)
	if err != nil {
		return err
	}
	err = Append(fd, data)
	Close(fd)
	if err == nil && unix.Renameat(dir, tmp, dir, name) != nil {
		err = FileIO
	}
	if err != nil {
		Remove(dir, tmp)
	}
	return err
}

// ReadSmall reads a regular file of at most maxBytes.
func ReadSmall(dir int, name string, maxBytes int) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, FileOpen
	}
	defer Close(fd)
	if !regular(fd) {
		return nil, FileOpen
	}
	return readAll(fd, maxBytes)
}

// ReadPath reads a regular file, which may have several names and may not be a
// link, of at most maxBytes. It never waits for a FIFO.
func ReadPath(path string, maxBytes int) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, FileOpen
	}
	defer Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		return nil, FileOpen
	}
	return readAll(fd, maxBytes)
}

func readAll(fd, maxBytes int) ([]byte, error) {
	buf := make([]byte, maxBytes+1)
	n := 0
	for n < len(buf) {
		k, err := unix.Read(fd, buf[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n+k > maxBytes {
			return nil, FileIO
		}
		if k == 0 {
			break
		}
		n += k
	}
	return buf[:n], nil
}

// Share takes a shared lock, which tells others that a file is in use.
func Share(fd int) { _ = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) }

// InUse reports whether somebody holds a lock on a file.
func InUse(dir int, name string) bool {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer Close(fd)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil
}

// How long Hold tries. What is done under it takes a fraction of that.
const (
	holdTries = 100
	holdPause = time.Millisecond
)

// Hold keeps other children out of a folder while this one makes or removes what
// they share, until Release or Close. It gives up after 100 ms: false.
func Hold(dir int) bool {
	for range holdTries {
		if unix.Flock(dir, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return true
		}
		time.Sleep(holdPause)
	}
	return false
}

// Release lets them in again.
func Release(dir int) { _ = unix.Flock(dir, unix.LOCK_UN) }

// Lock takes the exclusive lock of dir's file name, which it makes if need be.
// Closing the descriptor gives it back. The error is Locked or FileOpen.
func Lock(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, FileOpen
	}
	if !regular(fd) {
		Close(fd)
		return -1, FileOpen
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		Close(fd)
		return -1, Locked
	}
	return fd, nil
}

// List returns the names in a folder, as far as they can be read.
func List(dir int) []string {
	fd, err := unix.Openat(dir, ".", dirFlags, 0)
	if err != nil {
		return nil
	}
	d := os.NewFile(uintptr(fd), "captures")
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	return names
}

// Own returns the size of a regular file of ours.
func Own(dir int, name string) (int64, bool) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0, false
	}
	return st.Size, uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == os.Geteuid()
}

// Remove removes a name.
func Remove(dir int, name string) { _ = unix.Unlinkat(dir, name, 0) }

// Close closes a descriptor.
func Close(fd int) { _ = unix.Close(fd) }

// Split returns the folder and the name of a path.
func Split(path string) (dir, name string) { return filepath.Dir(path), filepath.Base(path) }
