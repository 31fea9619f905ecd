package attach

import "errors"

// Sentinels. The server alone turns them into codes; their texts stay inside.
var (
	// ErrMissing: no such session, or none attached (session_missing).
	ErrMissing = errors.New("attach: session missing")
	// ErrBusy: another owner holds the session (session_busy).
	ErrBusy = errors.New("attach: session busy")
	// ErrInvalid: the session is unsafe, unreadable or malformed (session_invalid).
	ErrInvalid = errors.New("attach: session invalid")
	// ErrLimit: the session or its history is over its bounds (history_limit).
	ErrLimit = errors.New("attach: over the history bounds")
	// ErrContent: one entry cannot fit a page (content_limit).
	ErrContent = errors.New("attach: over the content bound")
	// ErrStale: the revision, cursor or snapshot is no longer good (stale_revision).
	ErrStale = errors.New("attach: stale revision")
	// ErrOtherSession: the request names a session that is not attached (stale_session).
	ErrOtherSession = errors.New("attach: another session is attached")
	// ErrCursor: the cursor breaks its grammar (invalid_params).
	ErrCursor = errors.New("attach: malformed cursor")
	// ErrCwdMismatch: the session belongs to another workspace (cwd_mismatch).
	ErrCwdMismatch = errors.New("attach: recorded in another workspace")
)
