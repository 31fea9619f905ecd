package memfs

import (
	"io/fs"
	"time"

	"magicode/internal/vfs"
)

// node is an inode. Fields are guarded by FS.mu.
type node struct {
	ino          uint64
	mode         fs.FileMode
	uid          uint32
	nlink        uint64
	mtime, ctime time.Time

	data   []byte
	target string // of a symbolic link

	// What a power cut leaves of the content: stable is right up to
	// min(len(stable), clean); behind that, data was changed and not synced.
	stable []byte
	clean  int

	children map[string]*node // directories
	durable  map[string]*node // the names that a power cut leaves
}

func (n *node) info() vfs.Info {
	size := int64(len(n.data))
	if n.mode&fs.ModeSymlink != 0 {
		size = int64(len(n.target))
	}
	return vfs.Info{Dev: 1, Ino: n.ino, Nlink: n.nlink, UID: n.uid, Mode: n.mode, Size: size, Mtime: n.mtime, Ctime: n.ctime}
}

// dirty notes that data changed from off on.
func (n *node) dirty(off int) { n.clean = min(n.clean, off) }

// sync copies only what changed, so that a log that grows stays cheap.
func (n *node) sync() {
	keep := min(n.clean, len(n.stable), len(n.data))
	n.stable = append(n.stable[:keep], n.data[keep:]...)
	n.clean = len(n.data)
}

func (n *node) syncDir() {
	n.durable = make(map[string]*node, len(n.children))
	for k, c := range n.children {
		n.durable[k] = c
	}
}

// crash replaces the content by what mode leaves of it.
func (n *node) crash(mode Mode) {
	whole := n.data
	switch mode {
	case Keep:
	case ZeroTail:
		n.data = append([]byte(nil), n.stable[:min(len(n.stable), len(whole))]...)
		n.data = append(n.data, make([]byte, len(whole)-len(n.data))...)
	case HalfTail:
		have := min(len(n.stable), len(whole))
		n.data = append([]byte(nil), n.stable[:have]...)
		n.data = append(n.data, whole[have:have+(len(whole)-have)/2]...)
	default:
		n.data = append([]byte(nil), n.stable...)
	}
	n.stable = append([]byte(nil), n.data...)
	n.clean = len(n.data)
}
