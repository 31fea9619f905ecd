// Package faultfs wraps a file system and spoils the n-th operation: it fails
// it, shortens it, lets it happen and still reports an error, or cuts the
// power there. The counters are deterministic, so that a test can loop
// n = 0, 1, 2... until a run is not hit any more.
package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"

	"magicode/internal/vfs"
)

// Op is a kind of operation.
type Op uint8

// Operations of FS and of File. Any stands for each of them in a Fault.
const (
	Any Op = iota
	Open
	Mkdir
	MkdirAll
	Rename
	Link
	Remove
	Chmod
	Chtimes
	Stat
	Lstat
	ReadDir
	EvalSymlinks
	SyncDir
	Read
	ReadAt
	Write
	FStat
	FChmod
	Sync
	Truncate
	Close
	ops
)

func (o Op) String() string {
	names := [ops]string{"any", "open", "mkdir", "mkdirall", "rename", "link", "remove", "chmod", "chtimes", "stat", "lstat", "readdir",
		"evalsymlinks", "syncdir", "read", "readat", "write", "fstat", "fchmod", "sync", "truncate", "close"}
	if o < ops {
		return names[o]
	}
	return fmt.Sprintf("op %d", o)
}

// Effect is what becomes of the chosen operation.
type Effect uint8

// Fail does nothing and reports Err. Shorten does half of a read or write: a
// read that is short is no error, a short write reports Err; other operations
// fail. Late does the operation and reports Err all the same. PowerCut fails
// this operation and every later one; the test then calls memfs.Crash.
// FailFrom fails this operation and every later one of the same kind.
const (
	Fail Effect = iota
	Shorten
	Late
	PowerCut
	FailFrom
)

func (e Effect) String() string {
	return [...]string{"fail", "shorten", "late", "power-cut", "fail-from"}[e]
}

// ErrPower is what operations report after a power cut.
var ErrPower = errors.New("power cut")

// Fault chooses an operation: the N-th (from 0) of kind Op for which Match is
// true (nil matches every name). Err is EIO when it is nil.
type Fault struct {
	N      int
	Op     Op
	Effect Effect
	Err    error
	Match  func(name string) bool
}

// FS counts the operations of the wrapped file system and injects at most one
// fault. It is safe for concurrent use.
type FS struct {
	inner vfs.FS

	mu     sync.Mutex
	counts [ops]int
	fault  *Fault
	seen   int // operations that the fault's Op and Match chose
	hit    *Call
	dead   bool
	trace  []Call
	traced bool
}

// Call is one operation, for messages.
type Call struct {
	Op   Op
	Name string
}

func (c Call) String() string { return c.Op.String() + " " + c.Name }

var _ vfs.FS = (*FS)(nil)

// New wraps inner; nothing fails until Inject.
func New(inner vfs.FS) *FS { return &FS{inner: inner} }

// Inject replaces the fault and starts its counting anew.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.seen, f.hit, f.dead = &fault, 0, nil, false
}

// Heal removes the fault.
func (f *FS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.dead = nil, false
}

// Hit returns the operation that was spoilt, if one was.
func (f *FS) Hit() (Call, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hit == nil {
		return Call{}, false
	}
	return *f.hit, true
}

// Count returns how many operations of a kind (or of Any) were asked for.
func (f *FS) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op != Any {
		return f.counts[op]
	}
	n := 0
	for _, c := range f.counts {
		n += c
	}
	return n
}

// Trace starts recording and returns what was recorded since the last call.
func (f *FS) Trace() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.trace
	f.trace, f.traced = nil, true
	return old
}

// verdict is what an operation must do.
type verdict struct {
	err    error
	effect Effect
}

func (v verdict) spoilt() bool { return v.err != nil }

func (f *FS) next(op Op, name string) verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	if f.traced {
		f.trace = append(f.trace, Call{op, name})
	}
	if f.dead {
		return verdict{err: &fs.PathError{Op: op.String(), Path: name, Err: ErrPower}}
	}
	ft := f.fault
	if ft == nil || ft.Op != Any && ft.Op != op || ft.Match != nil && !ft.Match(name) {
		return verdict{}
	}
	n := f.seen
	f.seen++
	if n < ft.N || n > ft.N && ft.Effect != FailFrom {
		return verdict{}
	}
	if f.hit == nil {
		f.hit = &Call{op, name}
	}
	cause := ft.Err
	switch {
	case ft.Effect == PowerCut:
		f.dead = true
		cause = ErrPower
	case cause == nil:
		cause = syscall.EIO
	}
	return verdict{err: &fs.PathError{Op: op.String(), Path: name, Err: cause}, effect: ft.Effect}
}

// run applies a verdict to an operation that gives only an error.
func (f *FS) run(op Op, name string, do func() error) error {
	v := f.next(op, name)
	if v.spoilt() && v.effect != Late {
		return v.err
	}
	if err := do(); err != nil {
		return err
	}
	return v.err
}
