package session

import (
	"strings"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// maxFirstText bounds the first prompt in a sidecar and in a checkpoint
// (storage.md 5.8), in characters.
const maxFirstText = 4000

// Meta is the fold of storage.md 5.8: what a list of sessions shows. It is a
// Fold too; the handle keeps one of its own (Handle.Meta).
type Meta struct {
	LatestActivity string // timestamp of the latest record, "" without any
	Title          string
	SessionPath    string // the first one
	FirstInput     string // first prompt since the title, redacted, at most 4,000 characters
	UserInputs     int

	latest instant
}

// Apply adds a record.
func (m *Meta) Apply(rec Record) error {
	at, _ := parseTimestamp([]byte(rec.Timestamp))
	m.add(&rec, at)
	return nil
}

func (m *Meta) add(rec *Record, at instant) {
	if m.SessionPath == "" {
		m.SessionPath = rec.SessionPath
	}
	if m.LatestActivity == "" || at.after(m.latest) {
		m.LatestActivity, m.latest = rec.Timestamp, at
	}
	switch rec.Kind {
	case KindUserInput:
		m.UserInputs++
		if m.FirstInput == "" {
			text, _ := jsonscan.Value(rec.Payload).Get("text").Text()
			m.FirstInput = firstText(text)
		}
	case KindSessionTitle:
		if title := CleanTitle(textOf(rec.Payload, "title")); title != "" {
			m.Title, m.FirstInput = title, ""
		}
	case KindCompaction:
		m.aggregate(jsonscan.Value(rec.Payload).Get("aggregate"))
	}
}

func textOf(payload []byte, key string) string {
	s, _ := jsonscan.Value(payload).Get(key).Text()
	return s
}

// aggregate takes over what a checkpoint says of the records it stands for.
func (m *Meta) aggregate(a jsonscan.Value) {
	if a.Kind() != jsonscan.Object {
		return
	}
	m.Title = CleanTitle(textOf(a, "latest_title"))
	m.FirstInput = firstText(textOf(a, "first_user_input_text"))
	n, _ := a.Get("user_input_count").Uint64()
	m.UserInputs = int(min(n, 1<<31))
	if p := textOf(a, "session_path"); p != "" {
		m.SessionPath = p
	}
	stamp := textOf(a, "latest_activity_timestamp")
	if at, ok := parseTimestamp([]byte(stamp)); ok {
		m.LatestActivity, m.latest = stamp, at
	}
}

func firstText(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = redact.Text(text)
	if utf8.RuneCountInString(text) > maxFirstText {
		text = string([]rune(text)[:maxFirstText])
	}
	return text
}

// CleanTitle is the title form of storage.md 6.4: redacted, no quotes, single
// spaces, at most 50 characters, "" for a blank one.
func CleanTitle(title string) string {
	title = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("\"'`“”„‟‘’‚‛«»‹›", r):
			return -1
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return ' '
		}
		return r
	}, redact.Text(title))
	title = strings.Join(strings.Fields(title), " ")
	if utf8.RuneCountInString(title) > 50 {
		title = strings.TrimSpace(string([]rune(title)[:50]))
	}
	return title
}

// sidecar is the file's form, in its key order.
type sidecar struct {
	SchemaVersion int     `json:"schema_version"`
	SessionID     string  `json:"session_id"`
	Activity      *string `json:"latest_activity_timestamp"`
	Title         *string `json:"latest_title"`
	SessionPath   *string `json:"session_path"`
	FirstInput    *string `json:"first_user_input_text"`
	UserInputs    int     `json:"user_input_count"`
	Len           int64   `json:"jsonl_len"`
	ModifiedNS    *int64  `json:"jsonl_modified_ns"`
	Complete      bool    `json:"complete"`
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

var _ Fold = (*Meta)(nil)
