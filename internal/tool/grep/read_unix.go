//go:build linux || darwin

package grep

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tree opens files below the root of a search, relative to it: that is quicker
// than whole paths, and a link in place of a file is not followed.
type tree struct{ fd int }

var errNotRegular = errors.New("not a regular file")

func openTree(root string) (tree, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return tree{fd}, err
}

func (t tree) close() { unix.Close(t.fd) }

// read returns at most limit bytes of a file, in buf if it is large enough.
// more is true if the file is longer.
func (t tree) read(name string, buf []byte, limit int) (data []byte, more bool, err error) {
	fd, err := openFile(t.fd, name)
	if err != nil {
		return buf[:0], false, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return buf[:0], false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return buf[:0], false, errNotRegular
	}
	want := limit
	if st.Size < int64(limit) {
		want = int(st.Size)
	}
	if cap(buf) < want+1 {
		buf = make([]byte, 0, max(want+1, 2*cap(buf)))
	}
	buf = buf[:0]
	for len(buf) <= want { // one byte more than expected tells a file that grew
		n, err := unix.Read(fd, buf[len(buf):want+1])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return buf[:0], false, err
		}
		if n == 0 {
			return buf, false, nil
		}
		buf = buf[:len(buf)+n]
	}
	return buf[:want], true, nil
}

func openFile(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
