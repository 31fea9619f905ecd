package otlpjson

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Span is an ended span: a sdktrace.ReadOnlySpan but for the ids and attributes.
type Span interface {
	Name() string
	// IDs: parent is not valid for a root.
	IDs() (of trace.TraceID, span, parent trace.SpanID)
	SpanKind() trace.SpanKind
	StartTime() time.Time
	EndTime() time.Time
	Events() []sdktrace.Event
	Links() []sdktrace.Link
	Status() sdktrace.Status
	// AppendAttributes appends each as Encoder.AppendAttribute does.
	AppendAttributes(dst []byte) []byte
}

// AppendSpan appends one ended span to dst, which is empty or whole lines of
// spans: to the last line, which begins at last, as long as that is short, or else as
// a line of its own. It returns where the last line begins then. A span that
// makes its line longer than MaxLine is left out: false. It keeps nothing of s.
func (e *Encoder) AppendSpan(dst []byte, last int, s Span) (lines []byte, begins int, ok bool) {
	before := len(dst)
	if shared := before > last && before-last < sharedLine; shared {
		dst = append(dst[:before-len(lineEnd)], ',')
	} else {
		last = before
		dst = e.open(dst, "resourceSpans", "scopeSpans", "spans")
	}
	dst = closeLine(e.span(dst, s))
	if len(dst)-last <= MaxLine {
		return dst, last, true
	}
	if last < before {
		return closeLine(dst[:before-len(lineEnd)]), last, false
	}
	return dst[:before], last, false
}

func (e *Encoder) span(dst []byte, s Span) []byte {
	traceID, spanID, parent := s.IDs()
	dst = appendHex(append(dst, `{"traceId":`...), traceID[:])
	dst = appendHex(append(dst, `,"spanId":`...), spanID[:])
	if parent.IsValid() {
		dst = appendHex(append(dst, `,"parentSpanId":`...), parent[:])
	}
	dst = appendString(append(dst, `,"flags":257,"name":`...), s.Name()) // sampled; the parent is known to be local
	dst = strconv.AppendInt(append(dst, `,"kind":`...), int64(s.SpanKind()), 10)
	dst = appendTime(append(dst, `,"startTimeUnixNano":`...), s.StartTime())
	dst = appendTime(append(dst, `,"endTimeUnixNano":`...), s.EndTime())
	dst = closeList(s.AppendAttributes(append(dst, `,"attributes":[`...)))
	dst = e.events(dst, s)
	dst = e.links(dst, s)
	if s.Status().Code == codes.Error {
		dst = append(dst, `,"status":{"code":2}`...)
	}
	return append(dst, '}')
}

func (e *Encoder) events(dst []byte, s Span) []byte {
	events := s.Events()
	if len(events) == 0 {
		return dst
	}
	dst = append(dst, `,"events":[`...)
	for i := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTime(append(dst, `{"timeUnixNano":`...), events[i].Time)
		dst = appendString(append(dst, `,"name":`...), events[i].Name)
		if len(events[i].Attributes) > 0 {
			dst = e.attributes(append(dst, ','), RecordEvent, events[i].Attributes)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func (e *Encoder) links(dst []byte, s Span) []byte {
	links := s.Links()
	if len(links) == 0 {
		return dst
	}
	dst = append(dst, `,"links":[`...)
	for i := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		traceID, spanID := links[i].SpanContext.TraceID(), links[i].SpanContext.SpanID()
		dst = appendHex(append(dst, `{"traceId":`...), traceID[:])
		dst = append(appendHex(append(dst, `,"spanId":`...), spanID[:]), '}')
	}
	return append(dst, ']')
}
