package client

import (
	"context"
	"strings"

	"magicode/pkg/localagent"
)

// Page is one page of history.
type Page struct {
	SessionID  string             `json:"session_id"`
	Revision   string             `json:"revision"`
	Entries    []localagent.Entry `json:"entries"`
	NextCursor *string            `json:"next_cursor"`
	Complete   bool               `json:"complete"`

	askedSession, askedRevision string
}

func (p *Page) check() error {
	switch {
	case p.SessionID != p.askedSession || p.Revision != p.askedRevision:
		return violation("a page of another session or revision")
	case len(p.Entries) > localagent.MaxPageEntries:
		return violation("a page of %d entries", len(p.Entries))
	case p.NextCursor != nil && (p.Complete || *p.NextCursor == "" || len(*p.NextCursor) > localagent.MaxIDBytes):
		return violation("a page whose cursor is outside its bounds")
	}
	for _, e := range p.Entries {
		known := oneOf(e.Kind, localagent.EntryUser, localagent.EntryAssistant, localagent.EntryReasoningSummary,
			localagent.EntryActivity, localagent.EntryCompaction, localagent.EntryDiagnostic)
		if !known || !validID(e.MessageID) || len(e.Text) > localagent.MaxChunkBytes {
			return violation("a history entry outside its bounds")
		}
	}
	return nil
}

// HistoryMessage is one message of a history, its parts joined.
type HistoryMessage struct {
	ID, Kind, Text string
	Partial        bool
}

// History reads all pages. complete is false when the projection says so. Only
// whole messages are returned: a missing part is a protocol violation.
func (c *Client) History(ctx context.Context, session, revision string) (messages []HistoryMessage, complete bool, err error) {
	var j joiner
	for cursor := (*string)(nil); ; {
		page, err := c.HistoryPage(ctx, session, revision, cursor)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page.Entries {
			if err := j.add(e); err != nil {
				c.end(err)
				return nil, false, err
			}
		}
		if page.NextCursor != nil {
			cursor = page.NextCursor
			continue
		}
		if j.open {
			err := violation("a history that ends within a message")
			c.end(err)
			return nil, false, err
		}
		return j.messages, page.Complete, nil
	}
}

// joiner puts the parts of messages together.
type joiner struct {
	messages []HistoryMessage
	parts    int // of all messages
	next     int // part that the open message wants
	open     bool
	text     strings.Builder
}

func (j *joiner) add(e localagent.Entry) error {
	if j.parts++; j.parts > localagent.MaxSnapshotParts {
		return violation("a history of more than %d parts", localagent.MaxSnapshotParts)
	}
	if !j.open {
		j.messages = append(j.messages, HistoryMessage{ID: e.MessageID, Kind: e.Kind, Partial: e.Partial})
		j.next = 0
		j.text.Reset()
	}
	m := &j.messages[len(j.messages)-1]
	if e.Part != j.next || e.MessageID != m.ID || e.Kind != m.Kind || e.Partial != m.Partial {
		return violation("history parts that are not contiguous")
	}
	j.text.WriteString(e.Text)
	j.next++
	j.open = !e.LastPart
	if e.LastPart {
		m.Text = j.text.String()
	}
	return nil
}
