package replay

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/session"
)

const (
	maxChildren      = 10 // tasks of one call: tools.md 5.1
	maxChildrenChars = maxNoteChars / 2
	maxChildReads    = 64 // logs read for one conversation: 8 MiB at most
	maxChildID       = 128

	leftOut = "[... a result is left out ...]"
)

// child is a task whose log the file links to, and which no result tells of yet.
type child struct {
	id string
	at int // of the link
}

// link takes note of a task's log. Only the last ones are kept.
func (t *turn) link(at int, p jsonscan.Value) {
	id := p.Get("session_id").LenientText()
	if len(id) > maxChildID || !session.ValidID(id) || slices.ContainsFunc(t.children, func(c child) bool { return c.id == id }) {
		return
	}
	if t.children = append(t.children, child{id, at}); len(t.children) > maxChildren {
		t.children = slices.Delete(t.children, 0, 1)
	}
}

// settle drops the tasks that a result tells of: those linked since its call,
// if the call went well, if it was judged (what was withheld must not come back
// through a task's log), or if the result names the task's log, as the report of
// a call with failed tasks does.
func (t *turn) settle(sent string, whole bool, content string) {
	if len(t.children) == 0 {
		return
	}
	i := slices.IndexFunc(t.items, func(e entry) bool { return e.item.Kind == provider.ItemCall && e.item.CallID == sent })
	if i < 0 {
		return
	}
	begun := t.items[i].at
	t.children = slices.DeleteFunc(t.children, func(c child) bool {
		return c.at >= begun && (whole || strings.Contains(content, c.id))
	})
}

// lost are the ids of the tasks that nothing tells of.
func (t *turn) lost() []string {
	if t.unsafeProgress {
		return nil
	}
	var ids []string
	for _, c := range t.children {
		ids = append(ids, c.id)
	}
	return ids
}

// complete ends the notes of entries that wait for the logs of tasks, the latest
// first. It is done when a conversation is asked for, not when records come: a
// session is opened and followed without a look at those logs. A Follower's lock
// is held meanwhile: the reads are local and bounded, and only records of
// other goroutines wait for them.
func (f *Fold) complete(entries []entry, left *int) {
	for i := range slices.Backward(entries) {
		e := &entries[i]
		if e.children == nil {
			continue
		}
		words := f.wordsOf(e.children, left)
		e.item, e.children = userItem(withChildren(e.item.Text, words)), nil
	}
}

// told is the end of the open turn's note. That note is made anew whenever the
// conversation is asked for, and must not change between requests.
type told struct{ key, words string }

func (f *Fold) completeOpen(entries []entry, left *int) {
	for i := range entries {
		if ids := entries[i].children; ids != nil {
			words := f.wordsOf(ids, left)
			f.told = told{strings.Join(ids, " "), words}
		}
	}
	f.complete(entries, left)
}

// wordsOf reads logs and tells what the tasks did last, each in its share.
func (f *Fold) wordsOf(ids []string, left *int) string {
	if f.told.key == strings.Join(ids, " ") {
		return f.told.words
	}
	var logs [][]session.Record
	for _, id := range ids {
		if f.Children == nil || *left == 0 {
			break
		}
		*left--
		if recs := f.Children(id); len(recs) > 0 {
			logs = append(logs, recs)
		}
	}
	var n strings.Builder
	for i, recs := range logs {
		head := fmt.Sprintf("\n[The last that is recorded of task %d of %d, which may not have ended:]\n", i+1, len(logs))
		share := min(maxFieldChars, maxChildrenChars/len(logs)) - utf8.RuneCountInString(head)
		if said := lastWords(recs, share); said != "" {
			n.WriteString(head + said)
		}
	}
	return n.String()
}

// lastWords is the end of a task's log, in at most limit characters. The log is
// folded as a conversation is: so nothing local, no metadata and nothing that
// is withheld from a model is in it.
func lastWords(recs []session.Record, limit int) string {
	// Half the room: a result that is marked as data of others still fits whole.
	f := &Fold{turn: turn{outputs: min(maxNoteOutputChars, limit/2)}}
	for _, rec := range recs {
		_ = f.Apply(rec) // never fails
	}
	f.flushText(len(recs))
	var lines []string
	for _, e := range slices.Backward(slices.Concat(f.done, f.turn.items)) {
		line := redact.Text(lineOf(e.item))
		if line == "" {
			continue
		}
		size := utf8.RuneCountInString(line) + 1
		if cuts := e.item.Kind == provider.ItemMessage || e.item.Kind == provider.ItemCall; cuts && size > limit && limit > 1 {
			line, size = cutRunes(line, limit-1), limit
		}
		if size > limit { // a mark must not be cut in two
			line, size = leftOut, len(leftOut)+1
		}
		if limit -= size; limit < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

func lineOf(it provider.Item) string {
	switch it.Kind {
	case provider.ItemMessage:
		if it.Text == "" {
			return "" // a note on this task's own tasks, whose logs are not read
		}
		return it.Role + ": " + it.Text
	case provider.ItemCall:
		return "call of " + it.Name + ": " + it.Arguments
	case provider.ItemResult:
		return "result of " + it.Name + ": " + it.Text
	case provider.ItemNote:
		return it.Text
	}
	return ""
}

// withChildren is a note with the words of tasks behind it, both in the bound.
// It is empty when there is neither.
func withChildren(note, words string) string {
	if words == "" {
		return note
	}
	if note == "" {
		note = "[The turn above ended early.]"
	}
	return cutRunes(note, maxNoteChars-utf8.RuneCountInString(words)) + words
}
