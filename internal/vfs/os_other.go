//go:build !linux && !darwin

package vfs

import (
	"errors"
	"io/fs"
	"time"
)

// errUnsupported: this program serves on Linux and macOS only (decision 1).
var errUnsupported = errors.ErrUnsupported

type noFS struct{}

// OS returns a file system whose every operation fails with
// errors.ErrUnsupported: there is no no-follow open and no owner check here.
func OS() FS { return noFS{} }

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: errUnsupported} }

func (noFS) Open(name string, _ Flag, _ fs.FileMode) (File, error) { return nil, refuse("open", name) }
func (noFS) Mkdir(name string, _ fs.FileMode) error                { return refuse("mkdir", name) }
func (noFS) MkdirAll(name string, _ fs.FileMode) error             { return refuse("mkdir", name) }
func (noFS) Link(_, newName string) error                          { return refuse("link", newName) }
func (noFS) Rename(_, newName string) error                        { return refuse("rename", newName) }
func (noFS) Remove(name string) error                              { return refuse("remove", name) }
func (noFS) Chmod(name string, _ fs.FileMode) error                { return refuse("chmod", name) }
func (noFS) Chtimes(name string, _ time.Time) error                { return refuse("chtimes", name) }
func (noFS) Stat(name string) (Info, error)                        { return Info{}, refuse("stat", name) }
func (noFS) Lstat(name string) (Info, error)                       { return Info{}, refuse("lstat", name) }
func (noFS) ReadDir(name string) ([]fs.DirEntry, error)            { return nil, refuse("readdir", name) }
func (noFS) EvalSymlinks(name string) (string, error)              { return "", refuse("lstat", name) }
func (noFS) SyncDir(name string) error                             { return refuse("sync", name) }
