package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"magicode/internal/config"
)

// Bounds of a payload (tools.md 4.2).
const (
	maxInline     = 1 << 20  // bytes of the whole object on stdin
	maxReferenced = 16 << 20 // bytes of a body in a file
	outputHidden  = "<redacted:tool-output>"
)

// body is what a call asked and gave. The fields are in the order of their names.
type body struct {
	Request json.RawMessage `json:"request"`
	Result  json.RawMessage `json:"result,omitempty"`
}

type carrier struct {
	Inline bool   `json:"inline"`
	Status string `json:"status"` // inline, referenced, omitted_too_large
	Data   *body  `json:"data"`
}

type reference struct {
	Path        string `json:"path"`
	Bytes       int    `json:"bytes"`
	PayloadMode string `json:"payload_mode"`
	MediaType   string `json:"media_type"`
	Digest      string `json:"digest_sha256"`
}

type envelope struct {
	Schema        string          `json:"schema"`
	SchemaVersion int             `json:"schema_version"`
	Phase         Phase           `json:"phase"`
	Hook          map[string]any  `json:"hook"`
	Tool          map[string]any  `json:"tool"`
	Context       map[string]any  `json:"context"`
	Affected      []affected      `json:"affected_paths"`
	Payload       carrier         `json:"payload"`
	Reference     *reference      `json:"payload_ref"`
	Cwd           string          `json:"cwd"`
	PayloadMode   string          `json:"payload_mode"`
	Request       json.RawMessage `json:"request,omitempty"`
	Result        json.RawMessage `json:"result,omitempty"`
}

func nothing() {}

// payload returns what the hook reads on stdin. remove, never nil, takes away
// the file that it may refer to.
func (j *job) payload() (stdin []byte, remove func(), err error) {
	data, err := j.body()
	if err != nil {
		return nil, nothing, err
	}
	env := j.envelope()
	env.Payload = carrier{Inline: true, Status: "inline", Data: data}
	env.Request, env.Result = data.Request, data.Result
	if 2*(len(data.Request)+len(data.Result)) < maxInline {
		if stdin, err = marshal(env); err != nil || len(stdin) <= maxInline {
			return stdin, nothing, err
		}
	}
	env.Request, env.Result = nil, nil
	env.Payload = carrier{Status: "omitted_too_large"}
	remove = nothing
	if raw, err := marshal(data); err == nil && len(raw) <= maxReferenced {
		if path, gone, err := j.leave(raw); err == nil {
			sum := sha256.Sum256(raw)
			env.Payload.Status, remove = "referenced", gone
			env.Reference = &reference{Path: path, Bytes: len(raw), PayloadMode: string(j.hook.Payload), MediaType: "application/json",
				Digest: "sha256:" + hex.EncodeToString(sum[:])}
		}
	}
	stdin, err = marshal(env)
	return stdin, remove, err
}

func (j *job) envelope() envelope {
	c := j.set.opt.Context
	turn := "turn-" + strconv.Itoa(c.Turn)
	message := "tool-" + j.sub.ActivityID
	if j.sub.ActivityID == "" {
		message = j.sub.CallID
	}
	return envelope{
		Schema: "magi-code.tool_hook", SchemaVersion: 1, Phase: j.sub.Phase,
		Hook: map[string]any{"label": j.hook.Label, "index": j.index, "failure_policy": j.hook.Policy, "payload_mode": j.hook.Payload},
		Tool: map[string]any{"name": j.sub.Tool, "call_id": j.sub.CallID},
		Context: map[string]any{
			"cwd": c.Cwd, "session_id": orNull(c.SessionID), "session_path": orNull(c.SessionPath), "provider_id": c.ProviderID,
			"model_id": c.ModelID, "agent_id": orNull(c.AgentID), "invocation_mode": c.InvocationMode, "turn_id": turn,
			"message_id": message, "subagent": c.Subagent, "timestamp": time.Now().UTC().Format(time.RFC3339),
		},
		Affected: affectedPaths(j.sub, j.hook.Payload == config.PayloadFull), Cwd: c.Cwd, PayloadMode: string(j.hook.Payload),
	}
}

// body is the call in the hook's payload mode.
func (j *job) body() (*body, error) {
	full := j.hook.Payload == config.PayloadFull
	b := &body{Request: j.sub.Request}
	if len(b.Request) == 0 {
		b.Request = json.RawMessage("{}")
	}
	if !full {
		var err error
		if b.Request, err = summarised(b.Request); err != nil {
			return nil, err
		}
	}
	r := j.sub.Result
	if r == nil {
		return b, nil
	}
	raw, err := marshal(map[string]any{"success": r.Success, "content": r.Content, "metadata": r.Metadata})
	if err == nil && !full {
		raw, err = summarisedResult(r)
	}
	b.Result = raw
	return b, err
}

// message makes the subject of a text.
func (s *Set) message(p Phase, name, text string) Subject {
	sub := Subject{Phase: p, Tool: name}
	if s != nil {
		sub.CallID = name + "-turn-" + strconv.Itoa(s.opt.Context.Turn)
	}
	if raw, err := marshal(map[string]string{"text": text}); err == nil {
		sub.Request = raw
	}
	return sub
}

func injectionID(p Phase, id string, index int) string { return fmt.Sprintf("%s:%s:%d", p, id, index) }

// marshal is JSON without the escapes that are meant for web pages.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
