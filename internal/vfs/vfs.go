// Package vfs is the one door to state files: settings, credentials, sessions,
// locks, caches and the files that tools edit. It has only the operations that
// this program uses, so that every one of them can be made to fail in a test
// (see vfs/faultfs and vfs/memfs).
//
// Names are absolute paths. Errors are *fs.PathError and answer errors.Is with
// fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and the syscall errno.
package vfs

import (
	"io"
	"io/fs"
	"time"
)

// Flag says how Open opens a file.
type Flag uint16

// Flags. NoFollow refuses a symbolic link as the last component. NonBlock keeps
// an open of a FIFO or device from waiting. Close-on-exec is always set.
const (
	Read Flag = 1 << iota
	Write
	Append
	Create
	Exclusive
	Truncate
	NoFollow
	NonBlock
	Directory
)

// Info is what a stat tells.
type Info struct {
	Dev, Ino     uint64
	Nlink        uint64
	UID          uint32
	Mode         fs.FileMode // type and permission bits
	Size         int64
	Mtime, Ctime time.Time
}

// File is an open file. Close is safe twice.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	Stat() (Info, error)
	Chmod(fs.FileMode) error
	Sync() error // data and size; fdatasync where there is one
	Truncate(size int64) error
	Close() error
}

// FS is a file system. Implementations are safe for concurrent use.
type FS interface {
	Open(name string, flags Flag, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Rename(oldName, newName string) error
	Link(oldName, newName string) error // a second name of a file; fs.ErrExist when newName is taken
	Remove(name string) error           // a file or an empty directory
	Chmod(name string, perm fs.FileMode) error
	Chtimes(name string, at time.Time) error // both times; does not follow a final link
	Stat(name string) (Info, error)
	Lstat(name string) (Info, error)
	ReadDir(name string) ([]fs.DirEntry, error) // sorted by name
	EvalSymlinks(name string) (string, error)
	SyncDir(name string) error
}
