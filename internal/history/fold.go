package history

import (
	"fmt"

	"magicode/internal/session"
)

// interruptedText is the diagnostic of a turn without an end (storage.md 7.1).
const interruptedText = "Interrupted turn; no durable completion recorded"

// tornText is the diagnostic of a last record that was cut off (decision 16).
const tornText = "The last record of this session was cut off and is not shown"

// Fold builds the history of one session from its records. It implements
// session.Fold and is not safe for concurrent use; its snapshots are.
//
// Once an Apply has failed, that error is the answer to everything until Reset.
type Fold struct {
	newID func() string
	whole bool // without the bounds of a snapshot

	closed     writer // messages of closed turns, as entries
	messages   int    // of closed turns
	text       int    // bytes of their texts before redaction
	incomplete bool
	lastUser   string

	turn turn

	torn   bool
	tornID string

	err error
}

var _ session.Fold = (*Fold)(nil)

// New returns an empty fold. newID makes message ids: opaque strings of at most
// 64 characters of [A-Za-z0-9._-].
func New(newID func() string) *Fold {
	f := &Fold{newID: newID}
	f.Reset()
	return f
}

// NewWhole returns an empty fold for files and terminals, which knows no bounds:
// what it holds grows with the file, which has at most 64 MiB. It says of a failed
// call why it failed, in one line.
func NewWhole(newID func() string) *Fold {
	f := &Fold{newID: newID, whole: true}
	f.Reset()
	return f
}

// Reset forgets every record: the file was replaced and is fed anew. Snapshots
// taken before stay as they are.
func (f *Fold) Reset() {
	*f = Fold{newID: f.newID, whole: f.whole, closed: newWriter(), turn: newTurn()}
	f.closed.whole = f.whole
}

// SetTorn says that the file ends in a cut-off record. A snapshot then shows a
// diagnostic and is not complete. The next record ends that: an append sets the
// torn bytes aside first and records a diagnostic of its own.
func (f *Fold) SetTorn() { f.torn = true }

// Apply takes the next record. The error wraps ErrInvalid, ErrLimit or
// ErrContent.
func (f *Fold) Apply(rec session.Record) error {
	if f.err != nil {
		return f.err
	}
	f.torn = false
	if err := f.apply(rec); err != nil {
		f.fail(fmt.Errorf("project %s record: %w", rec.Kind, err))
	}
	return f.err
}

// fail keeps the error and lets go of everything else.
func (f *Fold) fail(err error) {
	f.Reset()
	f.err = err
}

// add puts a message into the open turn and returns its index.
func (f *Fold) add(k kind, text string, partial bool) (int, error) {
	t := &f.turn
	if f.messages+len(t.msgs) >= maxParts && !f.whole {
		return 0, ErrLimit
	}
	if err := f.grow(len(text)); err != nil {
		return 0, err
	}
	t.msgs = append(t.msgs, message{kind: k, id: f.newID(), text: text, partial: partial})
	t.spoke = t.spoke || k == user || k == assistant
	return len(t.msgs) - 1, nil
}

// grow counts n more bytes of text.
func (f *Fold) grow(n int) error {
	f.turn.text += n
	if f.text+f.turn.text > maxSnapshotBytes && !f.whole {
		return ErrLimit
	}
	return nil
}

// endTurn writes the open turn's messages as entries and drops their text.
func (f *Fold) endTurn() error {
	t := &f.turn
	if err := f.write(&f.closed); err != nil {
		return err
	}
	f.messages += len(t.msgs)
	f.text += t.text
	f.incomplete = f.incomplete || t.interrupted()
	f.lastUser = f.lastUserID()
	t.reset()
	return nil
}

// write appends the open turn to w as it would be if the turn ended here.
func (f *Fold) write(w *writer) error {
	t := &f.turn
	settled := t.settled()
	for i := range t.msgs {
		m := &t.msgs[i]
		partial := m.partial && (m.kind != assistant || !settled)
		if err := w.message(m.kind, m.id, m.display(), partial); err != nil {
			return err
		}
	}
	if f.torn {
		if err := w.message(diagnostic, f.keptID(&f.tornID), tornText, true); err != nil {
			return err
		}
	}
	if t.interrupted() {
		return w.message(diagnostic, f.keptID(&t.interruption), interruptedText, true)
	}
	return nil
}

// keptID returns the id in at, made on first use: a message keeps its id in
// every snapshot of one fold.
func (f *Fold) keptID(at *string) string {
	if *at == "" {
		*at = f.newID()
	}
	return *at
}

func (f *Fold) lastUserID() string {
	for i := len(f.turn.msgs) - 1; i >= 0; i-- {
		if f.turn.msgs[i].kind == user {
			return f.turn.msgs[i].id
		}
	}
	return f.lastUser
}

// Snapshot returns the history as it would be if the file ended here, without
// changing the fold. revision is an opaque string of at most 64 characters; the
// caller makes a fresh one each time. The error wraps ErrInvalid, ErrLimit or
// ErrContent.
func (f *Fold) Snapshot(revision string) (*Snapshot, error) {
	if f.err != nil {
		return nil, f.err
	}
	w := f.closed.fork()
	if err := f.write(&w); err != nil {
		return nil, fmt.Errorf("take history snapshot: %w", err)
	}
	return &Snapshot{
		revision: revision, pages: w.finish(), parts: w.parts, bytes: w.total,
		complete: !f.incomplete && !f.torn && !f.turn.interrupted(),
		lastUser: f.lastUserID(),
	}, nil
}
