package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/redact"
)

// Bounds of error text: providers.md 7.3, 10 and 11.6.
const (
	maxErrorBody   = 16 << 10
	errorBodySlack = 4 << 10 // read beyond the bound, so that redaction sees whole secrets
	maxSnippet     = 200
	maxDetail      = 400
	maxIdentity    = 256
	minSecret      = 4 // a shorter key would be found inside ordinary words
)

// StatusError is a response that is not 2xx. Body is redacted and bounded.
type StatusError struct {
	Endpoint string // without userinfo, query and fragment
	Status   int
	Body     string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered with HTTP status %d: %s", e.Endpoint, e.Status, e.Body)
}

// Plain is an error of a stream that trying again would not help.
func Plain(format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.ErrPlain, Err: fmt.Errorf(format, args...)}
}

// Failed is what a provider reported as its own failure (providers.md 11.6).
// detail and raw are redacted and cut here.
func Failed(what, detail string, raw []byte) *provider.Error {
	text := cut(redact.Text(detail), maxDetail)
	if text != "" {
		text = ": " + text
	}
	return &provider.Error{Kind: provider.ErrStreamFailed, Retryable: true,
		Err: fmt.Errorf("%s%s (%s)", what, text, Snippet(raw))}
}

// TooLong is a request that does not fit the model's context (decision 11).
func TooLong(detail string) *provider.Error {
	return &provider.Error{Kind: provider.ErrPromptTooLong,
		Err: fmt.Errorf("prompt too long: %s", cut(redact.Text(detail), maxDetail))}
}

// Snippet quotes offending data: redacted, on one line, at most 200 characters.
func Snippet(raw []byte) string {
	if len(raw) > 16*maxSnippet {
		raw = raw[:16*maxSnippet]
	}
	text := redact.Text(strings.ToValidUTF8(string(raw), "\uFFFD"))
	text = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text)
	return cut(text, maxSnippet)
}

// cut shortens text to at most n characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func terminal(err error) *provider.Error {
	return &provider.Error{Kind: provider.ErrStreamTerminal, Retryable: true, Err: err}
}

func transport(what string, err error, hide []string) *provider.Error {
	return &provider.Error{Kind: provider.ErrTransport, Retryable: true,
		Err: fmt.Errorf("%s: %s", what, cut(hideAll(err.Error(), hide), 2*maxDetail))}
}

// hideAll redacts text; the values that we sent ourselves may look like nothing
// that the rules know.
func hideAll(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, "<redacted>")
		}
	}
	return redact.Text(text)
}

// errorBody makes the text of a failed response's body.
func errorBody(raw []byte, truncated bool, hide []string) string {
	text := hideAll(strings.ToValidUTF8(string(raw), "\uFFFD"), hide)
	if len(text) > maxErrorBody {
		end := maxErrorBody
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text, truncated = text[:end], true
	}
	if truncated {
		text += "\n<truncated provider error body>"
	}
	return text
}

// endpoint is a URL without userinfo, query and fragment.
func endpoint(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// retryStatus reports whether a status may be tried again (providers.md 8.1, decision 11).
func retryStatus(status int) bool {
	switch status {
	case 408, 425, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// IsTooLong reports whether an error object of a provider says that the prompt
// exceeds the context: the codes of the public APIs, and the sentences of
// servers that have no code for it.
func IsTooLong(e jsonscan.Value) bool {
	for _, key := range []string{"code", "type"} {
		switch v := e.Get(key); {
		case v.Is("context_length_exceeded"), v.Is("exceed_context_size_error"), v.Is("request_too_large"):
			return true
		}
	}
	msg := strings.ToLower(e.Get("message").LenientText())
	for _, sign := range []string{"prompt is too long", "maximum context length", "context length exceeded", "exceeds the context window", "exceeds the available context size"} {
		if strings.Contains(msg, sign) {
			return true
		}
	}
	return false
}

// ErrorObject finds the error object of a body or an event; nil if there is none.
func ErrorObject(v jsonscan.Value) jsonscan.Value {
	switch e := v.Get("error"); e.Kind() {
	case jsonscan.Object:
		return e
	case jsonscan.String:
		if len(e) > 2 {
			return v // the message may stand beside it
		}
	}
	if v.Get("object").Is("error") {
		return v
	}
	return nil
}

// ErrorDetail joins what an error object says.
func ErrorDetail(e jsonscan.Value) string {
	var parts []string
	for _, key := range []string{"code", "type", "error", "message", "param"} {
		v := e.Get(key)
		text := v.LenientText()
		if v.Kind() == jsonscan.Number {
			text = string(v)
		}
		if text != "" && text != "error" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ": ")
}

func tooLongBody(status int, raw []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}
	v, err := jsonscan.Parse(bytes.TrimSpace(raw), jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	return err == nil && (IsTooLong(v) || IsTooLong(ErrorObject(v)))
}

// incomplete wraps a failure that came after semantic progress (providers.md 8.3).
func incomplete(e *provider.Error, tools bool) *provider.Error {
	marker := ""
	if tools {
		marker = " (arguments of a tool call had begun to arrive)"
	}
	return &provider.Error{Kind: provider.ErrIncomplete, ToolProgress: tools,
		Err: fmt.Errorf("provider stream ended early after a partial response%s: %w", marker, e)}
}

// prefixed tells how many attempts were made.
func prefixed(e *provider.Error, attempts int) *provider.Error {
	out := *e
	out.Attempts = attempts
	if attempts > 1 {
		out.Err = fmt.Errorf("failed after %d attempts: %w", attempts, e.Err)
	}
	return &out
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	var seconds int64
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if seconds < 1<<31 {
			seconds = seconds*10 + int64(c-'0')
		}
	}
	return time.Duration(min(seconds, 1<<31)) * time.Second, true
}

var errBusy = errors.New("too many provider requests at once")

// Overflow is something in a stream that exceeds its bound.
func Overflow(what string) *provider.Error {
	return terminal(fmt.Errorf("provider stream overflow: %s", what))
}

// EndedEarly is a stream that ended before its response was whole.
func EndedEarly(what string) *provider.Error { return terminal(errors.New(what)) }

// IdentityName is what identity records call the server behind a URL
// (providers.md 8.4).
func IdentityName(u *url.URL) string {
	if strings.Contains(u.Host, "chatgpt.com") {
		return "openai-codex"
	}
	return "openai-compatible"
}
