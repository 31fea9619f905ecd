package client

import (
	"context"

	"magicode/pkg/localagent"
)

// Initialized is the result of initialize.
type Initialized struct {
	Capabilities []string          `json:"capabilities"`
	Limits       localagent.Limits `json:"limits"`
	Status       localagent.Status `json:"status"`
}

// Initialize admits the connection. It asks for every capability it is given
// and fails when one is missing.
func (c *Client) Initialize(ctx context.Context, capabilities ...string) (Initialized, error) {
	if capabilities == nil {
		capabilities = []string{}
	}
	var out Initialized
	err := c.Call(ctx, localagent.MethodInitialize, map[string]any{"required_capabilities": capabilities}, &out)
	return out, err
}

// Status asks what the child does; it answers during any work.
func (c *Client) Status(ctx context.Context) (localagent.Status, error) {
	var out localagent.Status
	err := c.Call(ctx, localagent.MethodStatus, struct{}{}, &out)
	return out, err
}

// Session is the result of session.create and session.open.
type Session struct {
	SessionID string   `json:"session_id"`
	Durable   bool     `json:"durable"`
	Revision  string   `json:"revision"`
	Notices   []string `json:"notices"`
}

// CreateSession attaches a new session. Keep its id for a relaunch only after
// input.persisted.
func (c *Client) CreateSession(ctx context.Context) (Session, error) {
	var out Session
	err := c.Call(ctx, localagent.MethodSessionCreate, struct{}{}, &out)
	return out, err
}

// OpenSession attaches exactly this session.
func (c *Client) OpenSession(ctx context.Context, id string) (Session, error) {
	var out Session
	err := c.Call(ctx, localagent.MethodSessionOpen, map[string]any{"session_id": id}, &out)
	return out, err
}

// Page is one page of history.
type Page struct {
	SessionID  string             `json:"session_id"`
	Revision   string             `json:"revision"`
	Entries    []localagent.Entry `json:"entries"`
	NextCursor *string            `json:"next_cursor"`
	Complete   bool               `json:"complete"`
}

// HistoryPage asks for one page; a nil cursor is the first.
func (c *Client) HistoryPage(ctx context.Context, session, revision string, cursor *string) (Page, error) {
	var out Page
	err := c.Call(ctx, localagent.MethodHistoryPage, map[string]any{"session_id": session, "revision": revision, "cursor": cursor}, &out)
	return out, err
}

// HistoryMessage is one message of a history, its parts joined.
type HistoryMessage struct {
	ID, Kind, Text string
	Partial        bool
}

// History reads all pages. complete is false when the projection says so.
func (c *Client) History(ctx context.Context, session, revision string) (messages []HistoryMessage, complete bool, err error) {
	var cursor *string
	for {
		page, err := c.HistoryPage(ctx, session, revision, cursor)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page.Entries {
			if e.Part == 0 {
				messages = append(messages, HistoryMessage{ID: e.MessageID, Kind: e.Kind, Text: e.Text, Partial: e.Partial})
				continue
			}
			if len(messages) == 0 || messages[len(messages)-1].ID != e.MessageID {
				return nil, false, violation("history parts that are not contiguous")
			}
			messages[len(messages)-1].Text += e.Text
		}
		if page.NextCursor == nil {
			return messages, page.Complete, nil
		}
		cursor = page.NextCursor
	}
}

// StartTurn admits a prompt. Admission is not persistence: wait for events.
func (c *Client) StartTurn(ctx context.Context, session, prompt string) (*Run, error) {
	var out struct {
		RunID    string `json:"run_id"`
		Accepted bool   `json:"accepted"`
	}
	if err := c.Call(ctx, localagent.MethodTurnStart, map[string]any{"session_id": session, "prompt": prompt}, &out); err != nil {
		return nil, err
	}
	return NewRun(session, out.RunID), nil
}

// CancelTurn asks a run to stop; run.finished still follows.
func (c *Client) CancelTurn(ctx context.Context, session, run string) error {
	return c.Call(ctx, localagent.MethodTurnCancel, map[string]any{"session_id": session, "run_id": run}, nil)
}

// AnswerApproval answers one approval request.
func (c *Client) AnswerApproval(ctx context.Context, session, run, approval string, allow bool) error {
	params := map[string]any{"session_id": session, "run_id": run, "approval_id": approval, "allow": allow}
	return c.Call(ctx, localagent.MethodApprovalAnswer, params, nil)
}

// Shutdown asks the child to end. It drains and exits by itself.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.Call(ctx, localagent.MethodShutdown, struct{}{}, nil)
}
