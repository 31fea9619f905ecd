package client

import (
	"context"

	"magicode/pkg/localagent"
)

// AllCapabilities are the nine operations of version 1: a host that offers chat
// asks Initialize for all of them.
func AllCapabilities() []string {
	return []string{localagent.MethodInitialize, localagent.MethodStatus, localagent.MethodShutdown,
		localagent.MethodSessionCreate, localagent.MethodSessionOpen, localagent.MethodHistoryPage,
		localagent.MethodTurnStart, localagent.MethodTurnCancel, localagent.MethodApprovalAnswer}
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
	var out status
	err := c.Call(ctx, localagent.MethodStatus, struct{}{}, &out)
	return out.Status, err
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

// HistoryPage asks for one page; a nil cursor is the first.
func (c *Client) HistoryPage(ctx context.Context, session, revision string, cursor *string) (Page, error) {
	out := Page{askedSession: session, askedRevision: revision}
	err := c.Call(ctx, localagent.MethodHistoryPage, map[string]any{"session_id": session, "revision": revision, "cursor": cursor}, &out)
	return out, err
}

type turnParams struct {
	SessionID string `json:"session_id"`
	Prompt    string `json:"prompt"`
}

// StartTurn admits a prompt. Admission is not persistence: wait for events. When
// its error is not a *WireError the outcome is uncertain: the prompt may have
// been admitted, and must not be sent again by itself.
func (c *Client) StartTurn(ctx context.Context, session, prompt string) (*Run, error) {
	var out turnStarted
	if err := c.Call(ctx, localagent.MethodTurnStart, turnParams{session, prompt}, &out); err != nil {
		return nil, err
	}
	return NewRun(session, out.RunID), nil
}

// CancelTurn asks a run to stop; run.finished still follows.
func (c *Client) CancelTurn(ctx context.Context, session, run string) error {
	return c.Call(ctx, localagent.MethodTurnCancel, map[string]any{"session_id": session, "run_id": run}, new(cancelled))
}

// AnswerApproval answers one approval request.
func (c *Client) AnswerApproval(ctx context.Context, session, run, approval string, allow bool) error {
	params := map[string]any{"session_id": session, "run_id": run, "approval_id": approval, "allow": allow}
	return c.Call(ctx, localagent.MethodApprovalAnswer, params, new(recorded))
}

// Shutdown asks the child to end. It drains and exits by itself.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.Call(ctx, localagent.MethodShutdown, struct{}{}, new(stopping))
}
