package lease

import (
	"errors"
	"io/fs"
	"time"
)

// Holder tells whether a live owner has the lock of target, and its process id,
// 0 where the lock file does not name one. It takes, changes and waits for
// nothing, so the answer may be old when it arrives. An error means that the
// lock file cannot be read; whoever needs the lock would fail too.
func (m *Manager) Holder(target string) (pid int, held bool, err error) {
	img, err := readImage(m.fs, lockPath(target))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case stale(img, m.procs, time.Now()):
		return 0, false, nil
	}
	o, _ := parseOwner(img.content)
	return o.pid, true, nil
}
