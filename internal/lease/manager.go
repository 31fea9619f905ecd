package lease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"magicode/internal/vfs"
)

// ErrBusy: a live owner holds the lock, here or in another process.
var ErrBusy = errors.New("lock is held")

// errClosed: the manager was closed.
var errClosed = errors.New("lease manager is closed")

const (
	renewEvery = time.Second           // storage.md 12.2
	pollEvery  = 10 * time.Millisecond // only while somebody waits
)

// MaxWait is how long the program's waiting locks wait (storage.md 12.2).
const MaxWait = 30 * time.Second

// Options configure a Manager. Zero values mean this process and this machine.
type Options struct {
	FS        vfs.FS
	PID       int
	Processes Processes
}

// Manager holds the locks of one process: one per program, since two would
// take each other for a foreign live owner. It is safe for concurrent use.
type Manager struct {
	fs    vfs.FS
	pid   int
	procs Processes
	start func() string

	renewing sync.Mutex // held while times are refreshed; never together with mu

	mu     sync.Mutex
	held   map[string]*lock // by lock file path
	left   map[string]image // own files that could not be removed
	timer  *time.Timer
	armed  bool
	closed bool
}

// lock is one lock file of this process.
type lock struct {
	path string
	gone chan struct{} // closed when the path is free again
	next chan struct{} // closed when the lock is held, or was not got

	// Guarded by Manager.mu.
	img      image
	users    int // 0 while it is being taken or given back
	shared   bool
	acquired bool
}

// New returns a manager that holds nothing.
func New(o Options) *Manager {
	m := &Manager{fs: o.FS, pid: o.PID, procs: o.Processes, held: map[string]*lock{}, left: map[string]image{}}
	if m.fs == nil {
		m.fs = vfs.OS()
	}
	if m.pid == 0 {
		m.pid = os.Getpid()
	}
	if m.procs == nil {
		m.procs = newSystem()
	}
	m.start = sync.OnceValue(func() string { s, _ := m.procs.Start(m.pid); return s })
	return m
}

// Lease is a held lock. Release gives it back; it is safe twice and from any
// goroutine.
type Lease struct {
	m    *Manager
	l    *lock
	once sync.Once
	err  error
}

// TryAcquire takes the lock of target without waiting. It returns ErrBusy when
// a live owner has it, this process included; any other error means that the
// lock file could not be made or read (storage.md 5.3: no busy session, but a
// broken one).
func (m *Manager) TryAcquire(target string) (*Lease, error) {
	le, _, err := m.try(target, false, nil)
	return le, err
}

// Share is TryAcquire, except that any number of parts of this process may
// have the lock together. The file goes with the last of them.
func (m *Manager) Share(target string) (*Lease, error) {
	for {
		le, wait, err := m.try(target, true, nil)
		if le != nil || err != nil {
			return le, err
		}
		<-wait
	}
}

// Acquire waits for the lock: at most for wait, and until ctx ends. It polls
// every 10 ms while another process has it; within this process it is woken.
// The error is ErrBusy after the wait, the context's cause, or as TryAcquire's.
func (m *Manager) Acquire(ctx context.Context, target string, wait time.Duration) (*Lease, error) {
	return m.AcquireBeside(ctx, target, nil, wait)
}

// AcquireBeside is Acquire for a lock that is taken again and again while this
// process holds other, a lock of the same folder: its file becomes a second name
// of other's, which says the same of its owner. Taking and giving it back
// costs about a twentieth on ext4 (BenchmarkAcquire). Where names cannot be
// added, with nil, or when other was given back, the lock gets a file of its own.
func (m *Manager) AcquireBeside(ctx context.Context, target string, other *Lease, wait time.Duration) (*Lease, error) {
	var beside *lock
	if other != nil {
		beside = other.l
	}
	var deadline <-chan time.Time
	for {
		le, gone, err := m.try(target, false, beside)
		if err == nil || !errors.Is(err, ErrBusy) {
			return le, err
		}
		if deadline == nil {
			t := time.NewTimer(wait)
			defer t.Stop()
			deadline = t.C
		}
		var poll <-chan time.Time
		if gone == nil {
			poll = time.After(pollEvery)
		}
		select {
		case <-gone:
		case <-poll:
		case <-deadline:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try makes one attempt. wait is a channel that closes when it is worth trying
// again: for a shared lock that is being taken or given back, and, together
// with ErrBusy, for a lock that this process has.
func (m *Manager) try(target string, shared bool, beside *lock) (le *Lease, wait <-chan struct{}, err error) {
	path := lockPath(target)
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, nil, errClosed
	}
	if l := m.held[path]; l != nil {
		defer m.mu.Unlock()
		switch {
		case shared && !l.acquired:
			return nil, l.next, nil
		case shared && l.users == 0:
			return nil, l.gone, nil
		case shared && l.shared:
			return &Lease{m: m, l: keepLocked(l)}, nil, nil
		}
		return nil, l.gone, fmt.Errorf("lock %s: %w", target, ErrBusy)
	}
	l := &lock{path: path, gone: make(chan struct{}), next: make(chan struct{}), shared: shared}
	m.held[path] = l
	beside = keepLocked(beside)
	m.mu.Unlock()

	img, err := m.take(path, beside)
	if beside != nil {
		_ = m.release(beside) // what cannot be removed is in left
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	l.img, l.acquired = img, true
	close(l.next)
	if err != nil {
		delete(m.held, path)
		close(l.gone)
		return nil, nil, fmt.Errorf("lock %s: %w", target, err)
	}
	l.users = 1
	delete(m.left, path)
	m.armLocked()
	return &Lease{m: m, l: l}, nil, nil
}

// keepLocked makes the caller one more user of a lock that is held. Of one that was
// given back it returns nil: its file may be another owner's by now.
func keepLocked(l *lock) *lock {
	if l == nil || l.users <= 0 {
		return nil
	}
	l.users++
	return l
}

// Release removes the lock file if it is still the one that was created, and
// lets the next one in. An error says that the file may have stayed; this
// process will take it for stale all the same.
func (le *Lease) Release() error {
	if le == nil {
		return nil
	}
	le.once.Do(func() { le.err = le.m.release(le.l) })
	return le.err
}

func (m *Manager) release(l *lock) error {
	m.mu.Lock()
	l.users--
	last := l.users == 0 // below 0: Close was quicker
	m.mu.Unlock()
	if !last {
		return nil
	}

	err := removeImage(m.fs, l.path, l.img)
	if err != nil { // a second try, because the file would look alive for as long as we are
		err = removeImage(m.fs, l.path, l.img)
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held, l.path)
	if err != nil {
		m.left[l.path] = l.img
		err = fmt.Errorf("release lock: %w", err)
	}
	m.disarmLocked()
	close(l.gone)
	return err
}

// Close releases every lock and stops the timer. It is safe twice.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	var all []*lock
	for _, l := range m.held {
		if l.users > 0 {
			l.users = 1
			all = append(all, l)
		}
	}
	m.mu.Unlock()
	var errs []error
	for _, l := range all {
		errs = append(errs, m.release(l))
	}
	m.renewing.Lock() // a renewal under way has ended
	defer m.renewing.Unlock()
	return errors.Join(errs...)
}
