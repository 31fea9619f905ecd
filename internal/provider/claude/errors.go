package claude

import (
	"errors"
	"net/http"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
)

// Fixed hints: what the API or the command said is never quoted.
const (
	hintLogin   = "the claude command is not logged in to a subscription; run 'claude auth login'"
	hintRefused = "Claude refused the login of the claude command; run 'claude auth login'"
	hintLimit   = "the Claude subscription's limit is reached; try again later"
	hintModel   = "this model is not available to the Claude subscription; choose another one"
	hintTooLong = "prompt too long for the Claude subscription"
	hintBusy    = "Claude is overloaded or out of order; try again later"
	hintStatus  = "Claude did not accept the request"
	hintNone    = "the claude command ended without asking the model"
	hintAnswer  = "the claude command's answer and the model's do not agree"
	hintBroken  = "the model's answer broke off"
)

func refused(text string) error {
	return &provider.Error{Kind: provider.ErrPlain, Err: hint(text)}
}

// hint is an error whose text is a sentence for the user.
type hint string

func (h hint) Error() string { return string(h) }

func failed(kind provider.ErrorKind, text string) error {
	return &provider.Error{Kind: kind, Err: hint(text)}
}

// statusError says what a status other than 200 means.
func statusError(status int, raw []byte) error {
	e := &provider.Error{Kind: provider.ErrHTTPStatus, Status: status, Err: hint(hintStatus)}
	var object jsonscan.Value
	if v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true}); err == nil {
		object = exchange.ErrorObject(v)
	}
	switch {
	case status == http.StatusRequestEntityTooLarge, status == http.StatusBadRequest && exchange.IsTooLong(object):
		e.Kind, e.Err = provider.ErrPromptTooLong, hint(hintTooLong)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Err = hint(hintRefused)
	case status == http.StatusTooManyRequests:
		e.Err = hint(hintLimit)
	case status == http.StatusNotFound:
		e.Err = hint(hintModel)
	case status >= 500:
		e.Err = hint(hintBusy)
	}
	return e
}

// streamError replaces the text of an error in the model's stream.
func streamError(err error) error {
	var perr *provider.Error
	if !errors.As(err, &perr) {
		return failed(provider.ErrPlain, hintBroken)
	}
	out := &provider.Error{Kind: perr.Kind, Err: hint(hintBroken)}
	switch perr.Kind {
	case provider.ErrPromptTooLong:
		out.Err = hint(hintTooLong)
	case provider.ErrStreamFailed:
		out.Err = hint(hintBusy)
	}
	return out
}
