package memfs

import "fmt"

// Mode says what a power cut leaves of what was not synced.
type Mode uint8

// Modes. Lose takes names back too: a file whose directory was not synced is
// gone, a rename is undone. In the others the names stay (journalled metadata)
// and the content suffers: LoseData cuts files to what was synced, ZeroTail
// keeps the new size and fills with NUL bytes, HalfTail keeps the first half
// of the unsynced bytes. Keep is a killed process: nothing is lost.
const (
	Lose Mode = iota
	LoseData
	ZeroTail
	HalfTail
	Keep
)

// Modes lists them all.
func Modes() []Mode { return []Mode{Lose, LoseData, ZeroTail, HalfTail, Keep} }

func (m Mode) String() string {
	names := [...]string{"lose", "lose-data", "zero-tail", "half-tail", "keep"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("mode %d", m)
}

// Crash cuts the power. Open files are dead afterwards: every use gives EIO.
func (m *FS) Crash(mode Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	seen := map[*node]bool{}
	crashTree(m.root, mode, seen)
	for n := range seen {
		n.nlink = 0
	}
	m.root.nlink = 1
	recount(m.root)
}

func crashTree(n *node, mode Mode, seen map[*node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	if !n.mode.IsDir() {
		n.crash(mode)
		return
	}
	if mode == Lose {
		n.children = map[string]*node{}
		for base, c := range n.durable {
			n.children[base] = c
		}
	}
	for _, c := range n.children {
		crashTree(c, mode, seen)
	}
	n.syncDir()
}

func recount(dir *node) {
	for _, c := range dir.children {
		c.nlink++
		if c.mode.IsDir() {
			recount(c)
		}
	}
}

// SyncDir makes the names in a directory survive.
func (m *FS) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(name, true)
	if err == nil {
		n.syncDir()
	}
	return wrap("sync", name, err)
}

// SyncAll makes everything durable, as a fixture that was there before.
func (m *FS) SyncAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	syncTree(m.root)
}

func syncTree(n *node) {
	if !n.mode.IsDir() {
		n.sync()
		return
	}
	n.syncDir()
	for _, c := range n.children {
		syncTree(c)
	}
}
