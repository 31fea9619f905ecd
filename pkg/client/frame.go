package client

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"magicode/pkg/localagent"
)

// Frame types of version 1.
const (
	typeResponse = "response"
	typeEvent    = "event"
)

// Frame is one decoded output frame.
type Frame struct {
	Protocol   string         `json:"protocol"`
	Version    int            `json:"version"`
	Type       string         `json:"type"`
	InstanceID string         `json:"instance_id"`
	Seq        uint64         `json:"seq"`
	ID         *string        `json:"id"`
	Result     jsontext.Value `json:"result"`
	Error      *WireError     `json:"error"`
	Event      string         `json:"event"`
	Data       jsontext.Value `json:"data"`
}

// WireError is an error response. It satisfies error.
type WireError struct {
	Code localagent.Code `json:"code"`
}

func (e *WireError) Error() string { return "the agent answered " + string(e.Code) }

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// decode holds one line against the protocol. line excludes its LF. Fields that
// version 1 does not know are ignored: a later server may add optional ones.
func decode(line []byte) (Frame, error) {
	if len(line)+1 > localagent.MaxFrameBytes {
		return Frame{}, violation("a frame of %d bytes", len(line)+1)
	}
	if tooDeep(line) {
		return Frame{}, violation("a frame of more than %d nested containers", localagent.MaxDepth)
	}
	var f Frame
	if err := json.Unmarshal(line, &f); err != nil {
		return Frame{}, violation("a frame that is no JSON object of the protocol")
	}
	if f.Protocol != localagent.Name || f.Version != localagent.Version {
		return Frame{}, violation("protocol %q version %d", f.Protocol, f.Version)
	}
	switch f.Type {
	case typeResponse:
		return f, f.response()
	case typeEvent:
		if f.Data == nil || f.ID != nil || f.Result != nil || f.Error != nil {
			return Frame{}, violation("an event with other fields than its data")
		}
		return f, nil
	}
	return Frame{}, violation("frame type %q", f.Type)
}

func (f Frame) response() error {
	switch {
	case f.Event != "" || f.Data != nil:
		return violation("a response with the fields of an event")
	case (f.Result == nil) == (f.Error == nil):
		return violation("a response with both or neither of result and error")
	case f.Error != nil && !knownCode(f.Error.Code):
		return violation("unknown error code")
	case f.ID == nil && f.Error == nil:
		return violation("a result without a request")
	}
	return nil
}

// tooDeep counts open containers outside strings; whether they are well formed
// is the decoder's business.
func tooDeep(line []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if depth++; depth > localagent.MaxDepth {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}

func knownCode(c localagent.Code) bool { return slices.Contains(localagent.Codes(), c) }

// validID: the grammar of opaque identities (protocol, "Bounds").
func validID(s string) bool {
	if s == "" || len(s) > localagent.MaxIDBytes {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
