package attach

import (
	"sync"

	"magicode/internal/history"
	"magicode/internal/session"
)

// state is what was made of one reading of a session.
type state struct {
	places places // only Apply and, while nothing is appended, the service use it

	history *history.Fold
	facts   facts
	err     error // the first that facts gave

	next int  // index of the record that must come next
	gap  bool // another one came: the log was replaced under the folds
}

// follower is the one fold that a handle feeds: the records read, then those
// appended. It never stops a reading or an append. What is wrong with a record
// is kept, because the order in which an open reports its findings is fixed
// (storage.md 8.1) and a turn must not fail for its history.
//
// Records may be appended from other goroutines (a title, a panic's trace)
// than the one that looks at the attachment.
type follower struct {
	mu  sync.Mutex
	now *state
}

// Apply takes the next record. The handle calls it one record at a time.
func (f *follower) Apply(rec session.Record) error {
	f.state().places.see(rec.Cwd) // may ask the file system: not under the lock
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.now
	s.gap = s.gap || rec.Index != s.next
	s.next = rec.Index + 1
	_ = s.history.Apply(rec) // kept by the fold: Snapshot returns it
	if s.err == nil {
		s.err = s.facts.Apply(rec)
	}
	return nil
}

func (f *follower) state() *state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// swap makes f go on from s.
func (f *follower) swap(s *state) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = s
}

// facts returns what is known, and what was wrong with it.
func (f *follower) facts() (facts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.facts, f.now.err
}

// gap reports whether records went past the folds.
func (f *follower) gap() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.gap
}

// records is how many went through the folds.
func (f *follower) records() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.next
}

// owe says that the last turn has no end that counts.
func (f *follower) owe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.facts.owed = true
}

func (f *follower) setTorn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.history.SetTorn()
}

func (f *follower) snapshot(revision string) (*history.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.history.Snapshot(revision)
}
