package history

import (
	"slices"
	"strconv"
	"strings"

	"magicode/internal/jsonscan"
)

// Snapshot is an immutable history of one moment. It is safe for concurrent use.
type Snapshot struct {
	revision string
	pages    []page
	complete bool
	lastUser string
	parts    int
	bytes    int
}

// Revision names the snapshot in requests.
func (s *Snapshot) Revision() string { return s.revision }

// Pages is the number of pages, at least one.
func (s *Snapshot) Pages() int { return len(s.pages) }

// Entries is the number of entries on a page that Locate returned.
func (s *Snapshot) Entries(page int) int { return s.pages[page].entries }

// Complete reports whether no turn of the session was cut off.
func (s *Snapshot) Complete() bool { return s.complete }

// LastUser is the message id of the last user message, "" when there is none.
func (s *Snapshot) LastUser() string { return s.lastUser }

// Parts is the number of entries on all pages.
func (s *Snapshot) Parts() int { return s.parts }

// Bytes is the serialized size of all entries, as the 8 MiB limit counts it.
func (s *Snapshot) Bytes() int { return s.bytes }

// Locate returns the page that a cursor names: "" or "<revision>.<page>", page
// in decimal. ErrCursor: it breaks the identifier grammar; ErrStale: it is none
// of this snapshot's.
func (s *Snapshot) Locate(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	if !wellFormed(cursor) {
		return 0, ErrCursor
	}
	tail, ok := strings.CutPrefix(cursor, s.revision)
	digits, dot := strings.CutPrefix(tail, ".")
	if !ok || !dot {
		return 0, ErrStale
	}
	page, err := strconv.ParseUint(digits, 10, 32) // takes digits only: no sign, no underscore
	if err != nil || page >= uint64(len(s.pages)) {
		return 0, ErrStale
	}
	return int(page), nil
}

// wellFormed reports whether s keeps the grammar of opaque strings,
// [A-Za-z0-9._-]{1,64}.
func wellFormed(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
			continue
		}
		return false
	}
	return s != "" && len(s) <= maxCursorBytes
}

// AppendPage appends the result object of one page, at most 32,768 bytes, and
// returns the extended slice. page must be one that Locate returned.
func (s *Snapshot) AppendPage(dst []byte, sessionID string, page int) []byte {
	last := page == len(s.pages)-1
	dst = slices.Grow(dst, len(s.pages[page].raw)+pageOverhead)
	dst = append(dst, `{"complete":`...)
	dst = strconv.AppendBool(dst, last && s.complete)
	dst = append(dst, `,"entries":[`...)
	dst = append(dst, s.pages[page].raw...)
	dst = append(dst, `],"next_cursor":`...)
	if last {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, '"')
		dst = append(dst, s.revision...)
		dst = append(dst, '.')
		dst = strconv.AppendInt(dst, int64(page)+1, 10)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"revision":`...)
	dst = jsonscan.AppendString(dst, s.revision)
	dst = append(dst, `,"session_id":`...)
	dst = jsonscan.AppendString(dst, sessionID)
	return append(dst, '}')
}
