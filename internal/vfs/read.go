package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Errors of ReadFile and ReadFileInfo, besides those of the file system.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("file too large")
	ErrNotPrivate = errors.New("file is open to others")
)

// ReadOption changes what ReadFile accepts. Options may be combined with |.
type ReadOption uint8

// Private refuses a file with any group or other permission bit. Owned refuses
// one that is not the effective user's, or that has a second hard link. Follow
// allows the last component to be a symbolic link.
const (
	Private ReadOption = 1 << iota
	Owned
	Follow
)

// ReadFile reads a whole regular file of at most limit bytes. It does not
// follow a final symbolic link (unless Follow is given) and never waits for a
// FIFO. A file that grows while it is read is cut off with ErrTooLarge at the
// limit, never silently. A link gives ErrNotRegular as well.
func ReadFile(fsys FS, name string, limit int64, opts ...ReadOption) ([]byte, error) {
	data, _, err := ReadFileInfo(fsys, name, limit, opts...)
	return data, err
}

// ReadFileInfo is ReadFile and tells what the open file was before it was read.
func ReadFileInfo(fsys FS, name string, limit int64, opts ...ReadOption) ([]byte, Info, error) {
	var opt ReadOption
	for _, o := range opts {
		opt |= o
	}
	flags := Read | NonBlock
	if opt&Follow == 0 {
		flags |= NoFollow
	}
	f, err := fsys.Open(name, flags, 0)
	if err != nil {
		return nil, Info{}, notRegular(fsys, name, opt, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Info{}, err
	}
	if err := acceptable(info, limit, opt); err != nil {
		return nil, info, fmt.Errorf("read %s: %w", name, err)
	}
	data, err := readBounded(f, info.Size, limit)
	if err != nil {
		return nil, info, fmt.Errorf("read %s: %w", name, err)
	}
	return data, info, nil
}

// notRegular adds ErrNotRegular where the open failed because of what the name
// stands for: a link (ELOOP), a socket (ENXIO), a directory.
func notRegular(fsys FS, name string, opt ReadOption, err error) error {
	if opt&Follow != 0 || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, lerr := fsys.Lstat(name); lerr == nil && !info.Mode.IsRegular() {
		return fmt.Errorf("read %s: %w", name, ErrNotRegular)
	}
	return err
}

func acceptable(info Info, limit int64, opt ReadOption) error {
	switch {
	case !info.Mode.IsRegular():
		return ErrNotRegular
	case opt&Private != 0 && info.Mode.Perm()&0o077 != 0:
		return ErrNotPrivate
	case opt&Owned != 0 && (info.UID != uint32(os.Geteuid()) || info.Nlink != 1):
		return ErrNotPrivate
	case info.Size > limit:
		return ErrTooLarge
	}
	return nil
}

// readBounded trusts size only as a hint: files of /proc say 0.
func readBounded(r io.Reader, size, limit int64) ([]byte, error) {
	buf := make([]byte, 0, min(size, limit)+512)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
