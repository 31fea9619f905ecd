package session

import "errors"

// Errors of this package. Each is wrapped with what was being done.
var (
	ErrMissing = errors.New("session does not exist")
	ErrBusy    = errors.New("session is in use by another owner")
	ErrInvalid = errors.New("session cannot be used")       // unsafe file or folder, malformed or foreign records
	ErrLimit   = errors.New("session is too large")         // over 100,000 lines or 64 MiB
	ErrStale   = errors.New("session changed from outside") // since it was read
	ErrBudget  = errors.New("record budget exceeded")       // nested records of scripts only
	ErrClosed  = errors.New("session handle is closed")
	ErrPayload = errors.New("record payload cannot be stored") // not JSON
)
