package session

import (
	"errors"

	"magicode/internal/jsonscan"
)

// maxContainers counts the event object too (storage.md 5.6).
const maxContainers = 127

// Why a line is no record. errCut is JSON that ends too early or is none at
// all, as a torn write leaves it; errShape is JSON that is no record.
var (
	errCut   = errors.New("not a JSON value")
	errShape = errors.New("not a session record")
)

// envelope fields in the order of the record; the bits note what was seen.
const (
	fieldType = 1 << iota
	fieldTime
	fieldSession
	fieldCwd
	fieldPath
	fieldPayload

	required = fieldType | fieldTime | fieldSession | fieldPayload
)

// liner turns lines into records. It keeps the strings of the last line, since
// the next line nearly always has the same. One goroutine at a time.
type liner struct {
	session, cwd, path string
	kinds              map[string]Kind // by their spelling in a line, which is their text
	at                 instant         // of the last record

	form  form
	spare []byte
}

// parse checks one line without its terminator by storage.md 5.6. The record's
// payload aliases line.
func (l *liner) parse(line []byte) (Record, error) {
	if rec, ok := l.quick(line); ok {
		return rec, nil
	}
	rec, err := l.members(line)
	if err == nil {
		l.learn(line, &rec)
	}
	return rec, err
}

// members is parse for lines of any form.
func (l *liner) members(line []byte) (Record, error) {
	r := jsonscan.ReadObject(line, jsonscan.Options{MaxDepth: maxContainers})
	var rec Record
	seen, shape := 0, true
	for {
		k, v, ok := r.Next()
		if !ok {
			break
		}
		f := field(k)
		if f == 0 {
			continue
		}
		if seen&f != 0 {
			shape = false
		}
		seen |= f
		shape = l.set(&rec, f, v) && shape
	}
	switch {
	case r.Err() != nil && !complete(line):
		return Record{}, errCut
	case r.Err() != nil, !shape, seen&required != required:
		return Record{}, errShape
	}
	return rec, nil
}

// complete reports whether the line is some JSON value, however deep its
// strings are broken: then it was not cut off.
func complete(line []byte) bool {
	_, err := jsonscan.Parse(line, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	return err == nil
}

func field(k jsonscan.Value) int {
	switch {
	case k.Is("event_type"):
		return fieldType
	case k.Is("timestamp"):
		return fieldTime
	case k.Is("session_id"):
		return fieldSession
	case k.Is("cwd"):
		return fieldCwd
	case k.Is("session_path"):
		return fieldPath
	case k.Is("payload"):
		return fieldPayload
	}
	return 0
}

// set takes a field's value over; false means that it has the wrong type.
func (l *liner) set(rec *Record, f int, v jsonscan.Value) bool {
	switch {
	case f == fieldPayload:
		rec.Payload = v
		return true
	case f == fieldPath && v.Kind() == jsonscan.Null:
		return true
	case v.Kind() != jsonscan.String:
		return false
	}
	switch f {
	case fieldType:
		rec.Kind = l.kind(v)
	case fieldTime:
		return l.time(rec, v)
	case fieldSession:
		l.session = again(l.session, v)
		rec.SessionID = l.session
	case fieldCwd:
		l.cwd = again(l.cwd, v)
		rec.Cwd = l.cwd
	case fieldPath:
		l.path = again(l.path, v)
		rec.SessionPath = l.path
	}
	return true
}

func (l *liner) time(rec *Record, v jsonscan.Value) bool {
	var buf [64]byte
	text, ok := v.AppendText(buf[:0])
	if !ok {
		return false
	}
	rec.Timestamp = string(text)
	l.at, ok = parseTimestamp(text)
	return ok
}

// again returns v's text, without a copy where it equals the last one.
func again(last string, v jsonscan.Value) string {
	if v.Is(last) {
		return last
	}
	s, _ := v.Text()
	return s
}

// kind shares the strings of kinds: a long file has few.
func (l *liner) kind(v jsonscan.Value) Kind {
	var buf [64]byte
	text, _ := v.AppendText(buf[:0])
	if k, ok := l.kinds[string(text)]; ok {
		return k
	}
	if l.kinds == nil {
		l.kinds = make(map[string]Kind)
	}
	k := Kind(text)
	if len(l.kinds) < 256 && spelled(text) { // a hostile file could hold a new kind in every line
		l.kinds[string(k)] = k
	}
	return k
}
