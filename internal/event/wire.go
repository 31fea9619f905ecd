package event

import (
	"strconv"
	"time"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// wire is how the envelope and telemetry call an event.
type wire struct {
	name string
	kind telemetry.FrameKind
}

// Ref names the run that events belong to, in the form they carry it.
type Ref struct{ fields string }

// NewRef returns the Ref of a run. The two keys stand side by side in every
// event: no other key lies between them in byte order.
func NewRef(sessionID, runID string) Ref {
	b := append([]byte(nil), `,"run_id":`...)
	b = jsonscan.AppendString(b, runID)
	b = append(b, `,"session_id":`...)
	b = jsonscan.AppendString(b, sessionID)
	return Ref{fields: string(b)}
}

// Item is an event taken from a Queue. The zero value is none.
type Item struct {
	event Event // nil: delta
	delta Delta
	part  int // of the delta
}

// Of returns the Item of an event.
func Of(e Event) Item { return Item{event: e} }

// OfDelta returns the Item of a delta with its part number.
func OfDelta(d Delta, part int) Item { return Item{delta: d, part: part} }

// Event returns the event, nil for a delta.
func (i Item) Event() Event { return i.event }

// Name returns the event's name on the wire.
func (i Item) Name() string {
	if i.event == nil {
		return localagent.EventMessageDelta
	}
	return i.event.wire().name
}

// Kind returns what telemetry counts the event as.
func (i Item) Kind() telemetry.FrameKind {
	if i.event == nil {
		return telemetry.FrameMessageDelta
	}
	return i.event.wire().kind
}

// AppendData appends the event's data: a compact JSON object, keys in byte order.
func (i Item) AppendData(dst []byte, ref Ref) []byte {
	if i.event == nil {
		return i.delta.appendData(dst, i.part, ref)
	}
	return i.event.appendData(dst, ref)
}

func (d Delta) appendData(dst []byte, part int, ref Ref) []byte {
	dst = appendText(dst, `{"message_id":`, d.MessageID)
	dst = appendInt(dst, `,"part":`, part)
	dst = append(dst, ref.fields...)
	return append(appendText(dst, `,"text":`, d.Text), '}')
}

func (InputPersisted) wire() wire {
	return wire{localagent.EventInputPersisted, telemetry.FrameInputPersisted}
}

func (e InputPersisted) appendData(dst []byte, ref Ref) []byte {
	dst = appendText(dst, `{"durable":true,"message_id":`, e.MessageID)
	dst = appendText(dst, `,"revision":`, e.Revision)
	dst = append(dst, ref.fields...)
	return append(dst, '}')
}

func (Reconcile) wire() wire {
	return wire{localagent.EventMessageReconcile, telemetry.FrameMessageReconcile}
}

func (e Reconcile) appendData(dst []byte, ref Ref) []byte {
	dst = strconv.AppendBool(append(dst, `{"last_part":`...), e.LastPart)
	dst = appendText(dst, `,"message_id":`, e.MessageID)
	dst = appendInt(dst, `,"part":`, e.Part)
	dst = strconv.AppendBool(append(dst, `,"partial":`...), e.Partial)
	dst = append(dst, ref.fields...)
	return append(appendText(dst, `,"text":`, e.Text), '}')
}

func (Activity) wire() wire { return wire{localagent.EventActivity, telemetry.FrameActivity} }

func (e Activity) appendData(dst []byte, ref Ref) []byte {
	dst = appendText(dst, `{"activity_id":`, e.ID)
	dst = appendText(dst, `,"kind":`, e.Kind)
	dst = appendText(dst, `,"name":`, e.Name)
	dst = append(dst, ref.fields...)
	dst = appendText(dst, `,"state":`, e.State)
	return append(appendText(dst, `,"summary":`, e.Summary), '}')
}

func (ApprovalRequested) wire() wire {
	return wire{localagent.EventApprovalRequested, telemetry.FrameApprovalRequested}
}

func (e ApprovalRequested) appendData(dst []byte, ref Ref) []byte {
	dst = appendText(dst, `{"approval_id":`, e.ID)
	dst = appendInt(dst, `,"expires_in_ms":`, int(e.Expires/time.Millisecond))
	dst = append(dst, ref.fields...)
	return append(appendText(dst, `,"summary":`, e.Summary), '}')
}

func (Diagnostic) wire() wire { return wire{localagent.EventDiagnostic, telemetry.FrameDiagnostic} }

func (e Diagnostic) appendData(dst []byte, ref Ref) []byte {
	dst = appendText(dst, `{"code":`, string(e.Code))
	dst = append(dst, ref.fields...)
	return append(appendText(dst, `,"summary":`, e.Summary), '}')
}

// AppendFinished appends the data of run.finished; an empty revision or code is null.
func AppendFinished(dst []byte, ref Ref, f Finished, code localagent.Code) []byte {
	dst = appendOptional(dst, `{"error_code":`, string(code))
	dst = appendText(dst, `,"outcome":`, f.Outcome)
	dst = appendText(dst, `,"persistence":`, f.Persistence)
	dst = appendOptional(dst, `,"revision":`, f.Revision)
	dst = append(dst, ref.fields...)
	return append(dst, '}')
}

func appendText(dst []byte, key, text string) []byte {
	return jsonscan.AppendString(append(dst, key...), text)
}

func appendOptional(dst []byte, key, text string) []byte {
	if text == "" {
		return append(append(dst, key...), `null`...)
	}
	return appendText(dst, key, text)
}

func appendInt(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}
