package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"magicode/internal/jsonscan"
)

// Bounds of a trace: providers.md 14.2.
const (
	maxTraceEvents = 16
	maxTraceTools  = 16
)

// trace remembers the shape of the last events, for streams that break inside a
// block. No text and no arguments get out of it. Noting an event allocates
// nothing once its buffers have grown.
type trace struct {
	seq    int
	recent [maxTraceEvents]noted
	stop   string
}

type noted struct {
	typ, block, delta, stop string
	index                   int64 // -1 without
	usage                   [len(counters)]int64
	counted                 bool
	partial                 []byte // a piece of arguments, as its JSON string
}

var counters = [...]string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}

// known is a word of the API; anything else is "other".
func known(v jsonscan.Value) string {
	if v.Kind() != jsonscan.String {
		return ""
	}
	switch string(v) { // each case returns a constant: nothing is allocated for a delta
	case `"content_block_delta"`:
		return "content_block_delta"
	case `"text_delta"`:
		return "text_delta"
	case `"input_json_delta"`:
		return "input_json_delta"
	case `"thinking_delta"`:
		return "thinking_delta"
	case `"message_start"`, `"content_block_start"`, `"content_block_stop"`, `"message_delta"`, `"message_stop"`, `"ping"`, `"error"`,
		`"text"`, `"tool_use"`, `"thinking"`, `"redacted_thinking"`, `"signature_delta"`, `"redacted_thinking_delta"`, `"citations_delta"`,
		`"end_turn"`, `"max_tokens"`, `"stop_sequence"`, `"pause_turn"`, `"refusal"`:
		return string(v[1 : len(v)-1])
	}
	return "other"
}

func (t *trace) note(e *event) {
	slot := &t.recent[t.seq%maxTraceEvents]
	t.seq++
	*slot = noted{typ: known(e.typ), index: -1, block: known(e.block.Get("type")), partial: append(slot.partial[:0], e.partial...)}
	if n, ok := e.index.Int64(); ok {
		slot.index = n
	}
	if !e.hasDelta {
		return
	}
	slot.delta = known(e.kind)
	if s := known(e.stop); s != "" {
		slot.stop, t.stop = s, s
	}
	if e.usage != nil {
		slot.counted = true
		for i, key := range counters {
			slot.usage[i], _ = e.usage.Get(key).Int64()
		}
	}
}

type tracedEvent struct {
	Sequence   int              `json:"sequence"`
	Type       string           `json:"type"`
	Index      *int64           `json:"index,omitempty"`
	Block      string           `json:"block_type,omitempty"`
	Delta      string           `json:"delta_type,omitempty"`
	StopReason string           `json:"stop_reason,omitempty"`
	Usage      map[string]int64 `json:"usage,omitempty"`
	Bytes      int              `json:"partial_json_bytes,omitempty"`
	SHA256     string           `json:"partial_json_sha256,omitempty"`
}

type pendingTool struct {
	Index  int64  `json:"index"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	Bytes  int    `json:"arguments_bytes"`
	SHA256 string `json:"arguments_sha256"`
}

type traceRecord struct {
	SchemaVersion  int           `json:"schema_version"`
	Provider       string        `json:"provider"`
	FailureContext string        `json:"failure_context"`
	StopReason     *string       `json:"message_delta_stop_reason"`
	Recent         []tracedEvent `json:"recent_events"`
	PendingCount   int           `json:"pending_tool_count"`
	Truncated      bool          `json:"pending_tools_truncated"`
	Pending        []pendingTool `json:"pending_tools"`
}

// record is the trace as it is stored.
func (t *trace) record(open map[int64]*block) json.RawMessage {
	r := traceRecord{SchemaVersion: 1, Provider: "anthropic", FailureContext: "stream ended with open blocks", Pending: []pendingTool{}}
	if t.stop != "" {
		r.StopReason = &t.stop
	}
	for n := max(0, t.seq-maxTraceEvents); n < t.seq; n++ {
		r.Recent = append(r.Recent, t.recent[n%maxTraceEvents].event(n))
	}
	for _, i := range slices.Sorted(maps.Keys(open)) {
		b := open[i]
		if b.kind != "tool_use" {
			continue
		}
		if r.PendingCount++; r.PendingCount <= maxTraceTools {
			r.Pending = append(r.Pending, pendingTool{i, b.id, b.name, len(b.data), digest(b.data)})
		}
	}
	r.Truncated = r.PendingCount > maxTraceTools
	out, err := json.Marshal(r)
	if err != nil {
		panic("anthropic: a trace of plain values did not marshal: " + err.Error())
	}
	return out
}

func (n *noted) event(sequence int) tracedEvent {
	e := tracedEvent{Sequence: sequence, Type: n.typ, Block: n.block, Delta: n.delta, StopReason: n.stop}
	if n.index >= 0 {
		e.Index = &n.index
	}
	if n.counted {
		e.Usage = make(map[string]int64, len(counters))
		for i, key := range counters {
			e.Usage[key] = n.usage[i]
		}
	}
	if len(n.partial) > 0 {
		text := jsonscan.Value(n.partial).LenientText()
		e.Bytes, e.SHA256 = len(text), digest([]byte(text))
	}
	return e
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
