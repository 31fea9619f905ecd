package lease

import (
	"errors"
	"io/fs"
	"time"
)

// attempts bounds the retries after "removed in between"; more of them mean
// that others are quicker.
const attempts = 8

// take creates the lock file, after removing a stale one where it must.
func (m *Manager) take(path string, beside *lock) (image, error) {
	for range attempts {
		img, err := m.create(path, beside)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return img, err
		}
		seen, err := readImage(m.fs, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return image{}, err
		case !m.stale(path, seen):
			return image{}, ErrBusy
		}
		if err := m.removeStale(path, seen); err != nil {
			return image{}, err
		}
	}
	return image{}, ErrBusy
}

// create makes the lock file as a second name of the other's, or else anew.
func (m *Manager) create(path string, beside *lock) (image, error) {
	if beside != nil {
		img, err := linkImage(m.fs, beside.path, path, beside.img)
		if !errors.Is(err, errNotLinked) {
			return img, err
		}
	}
	return createImage(m.fs, path, formatOwner(m.pid, time.Now(), m.start()))
}

// stale also knows the files that this process could not remove itself.
func (m *Manager) stale(path string, img image) bool {
	m.mu.Lock()
	mine, left := m.left[path]
	m.mu.Unlock()
	return left && mine.same(img) || stale(img, m.procs, time.Now())
}

// removeStale unlinks a lock file of a dead owner under the guard, so that of
// two contenders the slower one does not unlink the quicker one's new lock.
func (m *Manager) removeStale(path string, seen image) error {
	guard, err := m.takeGuard(guardPath(path))
	if err != nil {
		return err
	}
	err = removeImage(m.fs, path, seen)
	if gerr := removeImage(m.fs, guardPath(path), guard); gerr != nil {
		m.mu.Lock()
		m.left[guardPath(path)] = guard
		m.mu.Unlock()
	}
	return err
}

// takeGuard does not wait: a guard of a live process means busy.
func (m *Manager) takeGuard(path string) (image, error) {
	for range attempts {
		img, err := createImage(m.fs, path, guardText(m.pid))
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return img, err
		}
		seen, err := readImage(m.fs, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return image{}, err
		case !m.stale(path, seen):
			return image{}, ErrBusy
		}
		if err := removeImage(m.fs, path, seen); err != nil {
			return image{}, err
		}
	}
	return image{}, ErrBusy
}
