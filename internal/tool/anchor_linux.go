package tool

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"magicode/internal/vfs"
)

// anchor is an open directory. Names below it are spelled through the
// descriptor (/proc/self/fd/N/name), so every operation on them, also by code
// that takes paths, starts at that directory wherever it was moved and whatever
// was put in its place.
type anchor struct{ fd int }

// openAnchor opens a canonical directory; a link in any component is refused.
func openAnchor(_ vfs.FS, dir string) (anchor, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := retryOpen(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, dir, &how) })
	if err == unix.ENOSYS || err == unix.EPERM { // old kernel, or a filter that does not know the call
		return walkTo(dir)
	}
	if err != nil {
		return anchor{}, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return anchor{fd}, nil
}

// walkTo opens dir component by component.
func walkTo(dir string) (anchor, error) {
	fd, err := retryOpen(func() (int, error) {
		return unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return anchor{}, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	a := anchor{fd}
	for part := range strings.SplitSeq(filepath.Clean(dir), "/") {
		if part == "" {
			continue
		}
		next, err := a.child(nil, part)
		a.close()
		if err != nil {
			return anchor{}, err
		}
		a = next
	}
	return a, nil
}

func retryOpen(open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

// child opens a directory that lies directly below; a link is refused.
func (a anchor) child(_ vfs.FS, name string) (anchor, error) {
	fd, err := retryOpen(func() (int, error) {
		return unix.Openat(a.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return anchor{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return anchor{fd}, nil
}

func (a anchor) name(base string) string {
	return "/proc/self/fd/" + strconv.Itoa(a.fd) + "/" + base
}

// verify has nothing to do: the descriptor cannot be exchanged.
func (a anchor) verify(vfs.FS) error { return nil }

func (a anchor) close() { unix.Close(a.fd) }
