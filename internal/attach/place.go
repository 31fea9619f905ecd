package attach

import (
	"path/filepath"

	"magicode/internal/vfs"
)

// maxPlaces bounds the recorded folders that are remembered: a file with more
// distinct ones than this asks the file system again.
const maxPlaces = 64

// places checks the folders that records name against the child's own
// (storage.md 8.2). A verdict is kept, not an error at the first record: lines
// that are malformed further on come first.
type places struct {
	fs   vfs.FS
	home string // canonical

	any      bool // a record named a folder
	mismatch bool
	last     string // of the record before
	known    map[string]bool
}

func (p *places) see(cwd string) {
	if cwd == "" || cwd == p.last {
		return
	}
	p.any, p.last = true, cwd
	same, ok := p.known[cwd]
	if !ok {
		same = p.same(cwd)
		if p.known == nil {
			p.known = make(map[string]bool)
		}
		if len(p.known) < maxPlaces {
			p.known[cwd] = same
		}
	}
	p.mismatch = p.mismatch || !same
}

// same reports whether cwd is absolute, exists and is the child's folder.
func (p *places) same(cwd string) bool {
	if !filepath.IsAbs(cwd) {
		return false
	}
	if cwd == p.home {
		if _, err := p.fs.Stat(cwd); err == nil {
			return true
		}
	}
	canonical, err := p.fs.EvalSymlinks(cwd)
	return err == nil && canonical == p.home
}

// recheck looks at the recorded folders again. With more of them than are
// remembered the old verdict may only get worse.
func (p *places) recheck() {
	if len(p.known) < maxPlaces {
		p.mismatch = false
	}
	for cwd := range p.known {
		p.known[cwd] = p.same(cwd)
		p.mismatch = p.mismatch || !p.known[cwd]
	}
}
