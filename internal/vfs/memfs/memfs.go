package memfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"magicode/internal/vfs"
)

// FS is the file system. Its zero value is not usable: call New.
type FS struct {
	now func() time.Time

	mu    sync.Mutex
	root  *node
	ino   uint64
	umask fs.FileMode
	epoch int // counts crashes: files opened before one are dead
}

var _ vfs.FS = (*FS)(nil)

// New returns an empty file system with a root directory, the umask 022 and
// the clock of package time.
func New() *FS {
	f := &FS{now: time.Now, umask: 0o022}
	f.root = f.makeLocked(fs.ModeDir | 0o755)
	f.root.nlink = 1
	return f
}

// SetClock replaces the clock, for example by one that runs backwards. It must
// not be called while the file system is in use.
func (m *FS) SetClock(now func() time.Time) { m.now = now }

func (m *FS) makeLocked(mode fs.FileMode) *node {
	m.ino++
	at := m.now()
	n := &node{ino: m.ino, mode: mode, uid: uint32(os.Geteuid()), mtime: at, ctime: at}
	if mode.IsDir() {
		n.children, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

const maxLinks = 40

// walkLocked finds the directory that holds the last component, and the node
// of that component (nil when there is none). The root has no parent.
func (m *FS) walkLocked(name string, follow bool) (dir *node, base string, n *node, err error) {
	if !filepath.IsAbs(name) {
		return nil, "", nil, syscall.EINVAL
	}
	links := 0
	rest := split(name)
	dir, n = nil, m.root
	var trail []*node // directories above n
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if n == nil {
			return nil, "", nil, syscall.ENOENT
		}
		if !n.mode.IsDir() {
			return nil, "", nil, syscall.ENOTDIR
		}
		if part == ".." {
			if len(trail) > 0 {
				n, trail = trail[len(trail)-1], trail[:len(trail)-1]
			}
			dir, base = nil, ""
			continue
		}
		child := n.children[part]
		if child != nil && child.mode&fs.ModeSymlink != 0 && (follow || len(rest) > 0) {
			if links++; links > maxLinks {
				return nil, "", nil, syscall.ELOOP
			}
			rest = append(split(child.target), rest...)
			if filepath.IsAbs(child.target) {
				n, trail = m.root, nil
			}
			continue
		}
		trail = append(trail, n)
		dir, base, n = n, part, child
	}
	return dir, base, n, nil
}

func split(name string) []string {
	var out []string
	for p := range strings.SplitSeq(name, "/") {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

func (m *FS) findLocked(name string, follow bool) (*node, error) {
	_, _, n, err := m.walkLocked(name, follow)
	if err == nil && n == nil {
		err = syscall.ENOENT
	}
	return n, err
}

func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat follows links; Lstat does not follow the last one.
func (m *FS) Stat(name string) (vfs.Info, error) { return m.stat("stat", name, true) }

// Lstat is Stat that does not follow a final link.
func (m *FS) Lstat(name string) (vfs.Info, error) { return m.stat("lstat", name, false) }

func (m *FS) stat(op, name string, follow bool) (vfs.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, follow)
	if err != nil {
		return vfs.Info{}, wrap(op, name, err)
	}
	return n.info(), nil
}

// ReadDir lists a directory by name.
func (m *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, true)
	if err == nil && !n.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, wrap("readdir", name, err)
	}
	out := make([]fs.DirEntry, 0, len(n.children))
	for base, c := range n.children {
		out = append(out, entry{name: base, info: c.info()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out, nil
}

// EvalSymlinks resolves every link of an existing name.
func (m *FS) EvalSymlinks(name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, true)
	if err != nil {
		return "", wrap("lstat", name, err)
	}
	return m.pathLocked(m.root, "/", n), nil
}

// pathLocked searches the tree for n: slow, and enough for tests.
func (m *FS) pathLocked(at *node, prefix string, n *node) string {
	if at == n {
		return prefix
	}
	for base, c := range at.children {
		if p := filepath.Join(prefix, base); c == n {
			return p
		} else if c.mode.IsDir() {
			if found := m.pathLocked(c, p, n); found != "" {
				return found
			}
		}
	}
	return ""
}

// entry is one row of ReadDir.
type entry struct {
	name string
	info vfs.Info
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.info.Mode.IsDir() }
func (e entry) Type() fs.FileMode          { return e.info.Mode.Type() }
func (e entry) Info() (fs.FileInfo, error) { return fileInfo{e}, nil }

type fileInfo struct{ e entry }

func (f fileInfo) Name() string       { return f.e.name }
func (f fileInfo) Size() int64        { return f.e.info.Size }
func (f fileInfo) Mode() fs.FileMode  { return f.e.info.Mode }
func (f fileInfo) ModTime() time.Time { return f.e.info.Mtime }
func (f fileInfo) IsDir() bool        { return f.e.IsDir() }
func (f fileInfo) Sys() any           { return nil }
