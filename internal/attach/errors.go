package attach

import (
	"context"
	"errors"
	"fmt"

	"magicode/internal/history"
	"magicode/internal/session"
)

// Sentinels. The server alone turns them into codes; their texts stay inside.
// Those of the session package come through as they are.
var (
	// ErrMissing: no such session, or none attached (session_missing).
	ErrMissing = session.ErrMissing
	// ErrBusy: another owner holds the session (session_busy).
	ErrBusy = session.ErrBusy
	// ErrInvalid: the session is unsafe, unreadable or malformed (session_invalid).
	ErrInvalid = session.ErrInvalid
	// ErrLimit: the session or its history is over its bounds (history_limit).
	ErrLimit = session.ErrLimit
	// ErrStale: the revision, cursor or snapshot is no longer good (stale_revision).
	ErrStale = session.ErrStale

	// ErrContent: one entry cannot fit a page (content_limit).
	ErrContent = errors.New("attach: over the content bound")
	// ErrOtherSession: the request names a session that is not attached (stale_session).
	ErrOtherSession = errors.New("attach: another session is attached")
	// ErrCursor: the cursor breaks its grammar (invalid_params).
	ErrCursor = errors.New("attach: malformed cursor")
	// ErrCwdMismatch: the session belongs to another workspace (cwd_mismatch).
	ErrCwdMismatch = errors.New("attach: recorded in another workspace")
)

// mapped turns the errors of a history into those of this package.
func mapped(err error) error {
	for _, r := range []struct{ from, to error }{
		{history.ErrInvalid, ErrInvalid}, {history.ErrLimit, ErrLimit}, {history.ErrContent, ErrContent},
		{history.ErrStale, ErrStale}, {history.ErrCursor, ErrCursor},
	} {
		if errors.Is(err, r.from) {
			return fmt.Errorf("%w: %v", r.to, err)
		}
	}
	return err
}

// canceled returns the cause of an ended context.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("session operation: %w", context.Cause(ctx))
}
