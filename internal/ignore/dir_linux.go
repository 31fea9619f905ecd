package ignore

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// directory is an open directory. Entries are opened below it without following
// links, so a walk cannot be led out of the tree while it runs.
type directory struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK

func openRoot(path string) (directory, error) {
	fd, err := unix.Open(path, openFlags, 0)
	return directory{fd}, err
}

func (d directory) open(name string) (directory, error) {
	fd, err := unix.Openat(d.fd, name, openFlags|unix.O_NOFOLLOW, 0)
	return directory{fd}, err
}

func (d directory) close() { unix.Close(d.fd) }

// list reads all entries but "." and "..".
func (d directory) list() ([]dirent, error) {
	var buf [16 << 10]byte
	var out []dirent
	for {
		n, err := unix.Getdents(d.fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return out, nil
		}
		out = d.parse(buf[:n], out)
	}
}

// parse reads records of struct linux_dirent64: inode 8 bytes, offset 8, length
// 2, type 1, name to the NUL.
func (d directory) parse(buf []byte, out []dirent) []dirent {
	const nameAt = 19
	names := string(buf) // one allocation for all names of the block
	if out == nil {
		out = make([]dirent, 0, len(buf)/32)
	}
	for at := 0; at+nameAt < len(buf); {
		size := int(binary.NativeEndian.Uint16(buf[at+16:]))
		name := names[at+nameAt : at+size]
		name = name[:bytes.IndexByte(buf[at+nameAt:at+size], 0)]
		if name != "." && name != ".." {
			out = append(out, dirent{name, d.kind(buf[at+18], name)})
		}
		at += size
	}
	return out
}

func (d directory) kind(typ byte, name string) kind {
	switch typ {
	case unix.DT_REG:
		return kindFile
	case unix.DT_DIR:
		return kindDir
	case unix.DT_UNKNOWN: // a file system that does not tell
		var st unix.Stat_t
		if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				return kindFile
			case unix.S_IFDIR:
				return kindDir
			}
		}
	}
	return kindOther
}
