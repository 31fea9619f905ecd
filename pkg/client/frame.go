package client

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"magicode/pkg/localagent"
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
	Raw        []byte         `json:"-"`
}

// WireError is an error response. It satisfies error.
type WireError struct {
	Code localagent.Code `json:"code"`
}

func (e *WireError) Error() string { return "the agent answered " + string(e.Code) }

// ErrProtocol: the child sent something that version 1 does not allow.
var ErrProtocol = errors.New("protocol violation")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// decode holds one line against the protocol. line excludes its LF.
func decode(line []byte) (Frame, error) {
	if len(line)+1 > localagent.MaxFrameBytes {
		return Frame{}, violation("a frame of %d bytes", len(line)+1)
	}
	var f Frame
	if err := json.Unmarshal(line, &f); err != nil {
		return Frame{}, violation("a frame that is no JSON object of the protocol")
	}
	if f.Protocol != localagent.Name || f.Version != localagent.Version {
		return Frame{}, violation("protocol %q version %d", f.Protocol, f.Version)
	}
	f.Raw = bytes.Clone(line)
	switch f.Type {
	case "response":
		if (f.Result == nil) == (f.Error == nil) {
			return Frame{}, violation("a response with both or neither of result and error")
		}
		if f.Error != nil && !knownCode(f.Error.Code) {
			return Frame{}, violation("unknown error code")
		}
	case "event":
		if f.Data == nil {
			return Frame{}, violation("an event without data")
		}
	default:
		return Frame{}, violation("frame type %q", f.Type)
	}
	return f, nil
}

func knownCode(c localagent.Code) bool {
	for _, k := range localagent.Codes() {
		if k == c {
			return true
		}
	}
	return false
}
