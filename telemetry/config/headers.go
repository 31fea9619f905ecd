package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Headers are what goes along with every request to an endpoint. Their values
// are secrets: printed, a Headers shows how many there are.
type Headers map[string]string

// String hides names and values.
func (h Headers) String() string { return fmt.Sprintf("[%d headers]", len(h)) }

// GoString hides names and values.
func (h Headers) GoString() string { return h.String() }

// Bounds of headers (telemetry.md 9.1).
const (
	maxHeaders     = 16
	maxHeaderBytes = 4 << 10
)

// ownHeaders are the transport's; a user's header of that name would break it.
var ownHeaders = []string{"connection", "content-encoding", "content-length", "content-type", "host", "keep-alive", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade", "user-agent"}

// parseHeaders reads the standard's list, "name=value,name=value", values
// percent-encoded. Names are lower case in the result.
func parseHeaders(s string) (Headers, bool) {
	out := Headers{}
	if strings.TrimSpace(s) == "" {
		return out, true
	}
	if len(s) > maxHeaderBytes {
		return nil, false
	}
	for pair := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !headerName(name) || !headerValue(value) {
			return nil, false
		}
		out[name] = value
	}
	return out, len(out) <= maxHeaders
}

func headerName(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "grpc-") && !slices.Contains(ownHeaders, s)
}

// headerValue: printable ASCII, which both transports take.
func headerValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
