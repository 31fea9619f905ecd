package history_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"magicode/internal/history"
	"magicode/internal/session"
)

// shown is an entry without its identity.
type shown struct {
	Kind    string
	Text    string
	Partial bool
}

type entry struct {
	Kind      string `json:"kind"`
	LastPart  bool   `json:"last_part"`
	MessageID string `json:"message_id"`
	Part      int    `json:"part"`
	Partial   bool   `json:"partial"`
	Text      string `json:"text"`
}

type page struct {
	Complete   bool    `json:"complete"`
	Entries    []entry `json:"entries"`
	NextCursor *string `json:"next_cursor"`
	Revision   string  `json:"revision"`
	SessionID  string  `json:"session_id"`
}

// counter makes message ids m1, m2, …
func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("m%d", n) }
}

// rec is one record written as kind and payload.
func rec(kind session.Kind, payload string) session.Record {
	return session.Record{Kind: kind, SessionID: "s", Payload: []byte(payload)}
}

// lines decodes a session file with an oracle of our own choosing.
func lines(t *testing.T, data string) []session.Record {
	t.Helper()
	var out []session.Record
	for i, ln := range strings.Split(strings.TrimSuffix(data, "\n"), "\n") {
		var e struct {
			EventType session.Kind    `json:"event_type"`
			Payload   json.RawMessage `json:"payload"`
		}
		if err := json.Unmarshal([]byte(ln), &e); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		out = append(out, session.Record{Kind: e.EventType, Payload: e.Payload, Index: i})
	}
	return out
}

// fold applies records to a new fold.
func fold(t testing.TB, recs ...session.Record) *history.Fold {
	t.Helper()
	f := history.New(counter())
	for i, r := range recs {
		if err := f.Apply(r); err != nil {
			t.Fatalf("record %d (%s %.80s): %v", i, r.Kind, r.Payload, err)
		}
	}
	return f
}

func snapshot(t testing.TB, f *history.Fold) *history.Snapshot {
	t.Helper()
	s, err := f.Snapshot("rev")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// entries pages through a snapshot as a client does.
func entries(t testing.TB, s *history.Snapshot) (all []entry, complete bool) {
	t.Helper()
	cursor := ""
	for {
		at, err := s.Locate(cursor)
		if err != nil {
			t.Fatalf("locate %q: %v", cursor, err)
		}
		raw := s.AppendPage(nil, "sid", at)
		if len(raw) > 32768 {
			t.Fatalf("page %d has %d bytes", at, len(raw))
		}
		var p page
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatalf("page %d: %v\n%s", at, err, raw)
		}
		if p.Complete && p.NextCursor != nil {
			t.Fatalf("page %d is complete and has a next one", at)
		}
		if len(p.Entries) > 100 {
			t.Fatalf("page %d has %d entries", at, len(p.Entries))
		}
		all = append(all, p.Entries...)
		if p.NextCursor == nil {
			return all, p.Complete
		}
		cursor = *p.NextCursor
	}
}

// joined puts the parts of each message together again.
func joined(t testing.TB, all []entry) []shown {
	t.Helper()
	out := []shown{}
	for i, e := range all {
		switch {
		case e.Part == 0:
			out = append(out, shown{e.Kind, e.Text, e.Partial})
		case all[i-1].MessageID != e.MessageID || all[i-1].Part != e.Part-1 || all[i-1].LastPart:
			t.Fatalf("entry %d does not go on from the one before: %+v", i, e)
		default:
			out[len(out)-1].Text += e.Text
		}
		if last := i == len(all)-1 || all[i+1].Part == 0; last != e.LastPart {
			t.Fatalf("entry %d: last_part %v", i, e.LastPart)
		}
	}
	return out
}

// project is the whole way from records to what a client sees.
func project(t testing.TB, recs ...session.Record) (messages []shown, complete bool) {
	t.Helper()
	all, complete := entries(t, snapshot(t, fold(t, recs...)))
	return joined(t, all), complete
}
