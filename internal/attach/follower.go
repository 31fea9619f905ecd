package attach

import (
	"magicode/internal/history"
	"magicode/internal/session"
)

// state is what was made of one reading of a session.
type state struct {
	history *history.Fold
	places  places
	facts   facts
	err     error // the first that facts gave

	next int  // index of the record that must come next
	gap  bool // another one came: the log was replaced under the folds
}

// follower is the one fold that a handle feeds: the records read, then those
// appended. It never stops a reading or an append. What is wrong with a record
// is kept, because the order in which an open reports its findings is fixed
// (storage.md 8.1) and a turn must not fail for its history.
type follower struct{ now *state }

// Apply takes the next record.
func (f *follower) Apply(rec session.Record) error {
	s := f.now
	s.gap = s.gap || rec.Index != s.next
	s.next = rec.Index + 1
	_ = s.history.Apply(rec) // kept by the fold: Snapshot returns it
	s.places.see(rec.Cwd)
	if s.err == nil {
		s.err = s.facts.Apply(rec)
	}
	return nil
}
