package session

import (
	"bytes"

	"magicode/internal/jsonscan"
)

// form is how the lines of a file look that one program has written in one
// folder: they differ in kind, timestamp, payload and event_id only. A line
// that keeps the form is taken apart by comparing bytes, at a third of the time
// of reading its members. The form is that of storage.md 6.1, event_id behind
// the payload (extensions.md 18.3).
type form struct {
	middle []byte // from behind the timestamp to before the payload; empty: none known
	rec    Record // its SessionID, Cwd and SessionPath
}

const (
	formKind = `{"event_type":"`
	formTime = `","timestamp":"`
	formID   = `,"event_id":"`

	maxFormKind = 64
	maxFormTime = 40
	maxFormID   = 40
)

// quick is parse for a line that keeps the form. With ok false nothing is said
// of the line, and parse has to look at it.
func (l *liner) quick(line []byte) (rec Record, ok bool) {
	kind, stamp, rest, ok := l.form.cut(line)
	if !ok {
		return rec, false
	}
	rec = l.form.rec
	if rec.Kind, ok = l.kinds[string(kind)]; !ok { // only kinds that are spelled as they are
		return rec, false
	}
	if l.at, ok = parseTimestamp(stamp); !ok { // ASCII without escapes, if it is one
		return rec, false
	}
	payload, err := jsonscan.Parse(body(rest), jsonscan.Options{MaxDepth: maxContainers - 1})
	if err != nil {
		return rec, false
	}
	rec.Timestamp, rec.Payload = string(stamp), payload
	return rec, true
}

// cut returns the kind, the timestamp, and what begins with the payload.
func (f *form) cut(line []byte) (kind, stamp, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(line, []byte(formKind)); !ok || len(f.middle) == 0 {
		return nil, nil, nil, false
	}
	i := bytes.IndexByte(rest[:min(len(rest), maxFormKind)], '"')
	if i < 0 {
		return nil, nil, nil, false
	}
	kind = rest[:i]
	if rest, ok = bytes.CutPrefix(rest[i:], []byte(formTime)); !ok {
		return nil, nil, nil, false
	}
	if i = bytes.IndexByte(rest[:min(len(rest), maxFormTime)], '"'); i < 0 {
		return nil, nil, nil, false
	}
	stamp = rest[:i]
	rest, ok = bytes.CutPrefix(rest[i:], f.middle)
	return kind, stamp, rest, ok
}

// body cuts the closing bracket of the line off, and an event_id before it.
// What is left is the payload if it is one JSON value, because then nothing of
// it was cut: no value ends within an unfinished string or object.
func body(rest []byte) []byte {
	n := len(rest) - 1
	if n < 1 || rest[n] != '}' {
		return nil
	}
	if rest[n-1] != '"' {
		return rest[:n]
	}
	from := max(0, n-1-maxFormID)
	i := bytes.LastIndex(rest[from:n-1], []byte(formID))
	if i < 0 {
		return rest[:n]
	}
	for _, c := range rest[from+i+len(formID) : n-1] {
		if c-'0' > 9 && c|0x20-'a' > 'f'-'a' {
			return nil
		}
	}
	return rest[:from+i]
}

// learn takes the form of a line that was read member by member, if it has one.
func (l *liner) learn(line []byte, rec *Record) {
	i := bytes.Index(line[:min(len(line), maxFormKind+maxFormTime)], []byte(formTime))
	if i < 0 {
		return
	}
	i += len(formTime)
	end := bytes.IndexByte(line[i:min(len(line), i+maxFormTime)], '"')
	if end < 0 {
		return
	}
	b := append(l.spare[:0], `","session_id":`...)
	b = append(jsonscan.AppendString(b, rec.SessionID), `,"cwd":`...)
	b = append(jsonscan.AppendString(b, rec.Cwd), `,"session_path":`...)
	if rec.SessionPath == "" {
		b = append(b, `null`...)
	} else {
		b = jsonscan.AppendString(b, rec.SessionPath)
	}
	b = append(b, `,"payload":`...)
	if l.spare = b; bytes.HasPrefix(line[i+end:], b) {
		l.spare, l.form.middle = l.form.middle, b
		l.form.rec = Record{SessionID: rec.SessionID, Cwd: rec.Cwd, SessionPath: rec.SessionPath}
	}
}

// spelled reports whether a string is its own JSON spelling, in ASCII.
func spelled(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
