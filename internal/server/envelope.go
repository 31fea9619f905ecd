package server

import (
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
)

const version = `,"version":1}` + "\n"

// Envelope appends output frames of one child: compact JSON, keys in byte
// order, LF at the end, each with the next sequence number. Ids and codes must
// match the id grammar, which needs no escapes. It is guarded by who owns it.
type Envelope struct {
	middle string // between the keys before and behind instance_id and protocol
	seq    uint64
}

// NewEnvelope returns an Envelope whose first frame has the sequence number 1.
func NewEnvelope(instanceID string) *Envelope {
	b := append([]byte(nil), `,"instance_id":`...)
	b = jsonscan.AppendString(b, instanceID)
	b = append(b, `,"protocol":`...)
	b = jsonscan.AppendString(b, localagent.Name)
	return &Envelope{middle: string(b)}
}

// BeginResult begins a response. The result, one JSON value, and EndResponse follow.
func (e *Envelope) BeginResult(dst []byte, id string) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, id...)
	dst = append(dst, '"')
	dst = append(dst, e.middle...)
	return append(dst, `,"result":`...)
}

// EndResponse ends what BeginResult began.
func (e *Envelope) EndResponse(dst []byte) []byte {
	dst = e.appendSeq(dst)
	return append(dst, `,"type":"response"`+version...)
}

// AppendError appends a whole error response. Without hasID the id is null.
func (e *Envelope) AppendError(dst []byte, id string, hasID bool, code localagent.Code) []byte {
	dst = append(dst, `{"error":{"code":"`...)
	dst = append(dst, code...)
	dst = append(dst, `"},"id":`...)
	if hasID {
		dst = append(dst, '"')
		dst = append(dst, id...)
		dst = append(dst, '"')
	} else {
		dst = append(dst, `null`...)
	}
	dst = append(dst, e.middle...)
	return e.EndResponse(dst)
}

// BeginEvent begins an event. Its data, one JSON value, and EndEvent follow.
func (e *Envelope) BeginEvent(dst []byte) []byte {
	return append(dst, `{"data":`...)
}

// EndEvent ends what BeginEvent began.
func (e *Envelope) EndEvent(dst []byte, name string) []byte {
	dst = append(dst, `,"event":"`...)
	dst = append(dst, name...)
	dst = append(dst, '"')
	dst = append(dst, e.middle...)
	dst = e.appendSeq(dst)
	return append(dst, `,"type":"event"`+version...)
}

func (e *Envelope) appendSeq(dst []byte) []byte {
	e.seq++
	dst = append(dst, `,"seq":`...)
	return strconv.AppendUint(dst, e.seq, 10)
}
