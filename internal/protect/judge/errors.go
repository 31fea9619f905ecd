package judge

import "errors"

// Reason is the word for why an assessment failed. It is what records hold.
type Reason string

// Reasons.
const (
	TooLarge    Reason = "request_too_large"
	Unreachable Reason = "unreachable"
	TimedOut    Reason = "timed_out"
	Refused     Reason = "refused"      // 401, 403: the key
	RateLimited Reason = "rate_limited" // 429
	Rejected    Reason = "rejected"     // any other status
	Malformed   Reason = "malformed_answer"
	Incomplete  Reason = "answer_out_of_range" // missing, of another kind, or out of its range
)

// ErrTooLarge is for callers with a bound of their own.
var ErrTooLarge error = failure(TooLarge, "the request is too large")

// ReasonOf is the word for a failed assessment; "" for another error.
func ReasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// Error is a failed assessment.
type Error struct {
	Reason Reason
	text   string
}

// Error implements error. It is a fixed phrase.
func (e *Error) Error() string { return "judge: " + e.text }

func failure(r Reason, text string) *Error { return &Error{Reason: r, text: text} }
