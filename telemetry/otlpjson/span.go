package otlpjson

import (
	"strconv"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// AppendSpan appends the line of one ended span. It keeps nothing of s.
func (e *Encoder) AppendSpan(dst []byte, s sdktrace.ReadOnlySpan) []byte {
	dst = e.open(dst, "resourceSpans", "scopeSpans", "spans")
	sc := s.SpanContext()
	traceID, spanID := sc.TraceID(), sc.SpanID()
	dst = appendHex(append(dst, `{"traceId":`...), traceID[:])
	dst = appendHex(append(dst, `,"spanId":`...), spanID[:])
	if parent := s.Parent().SpanID(); parent.IsValid() {
		dst = appendHex(append(dst, `,"parentSpanId":`...), parent[:])
	}
	dst = appendString(append(dst, `,"flags":257,"name":`...), s.Name()) // sampled; the parent is known to be local
	dst = strconv.AppendInt(append(dst, `,"kind":`...), int64(s.SpanKind()), 10)
	dst = appendTime(append(dst, `,"startTimeUnixNano":`...), s.StartTime())
	dst = appendTime(append(dst, `,"endTimeUnixNano":`...), s.EndTime())
	dst = e.attributes(append(dst, ','), RecordSpan, s.Attributes())
	dst = e.events(dst, s)
	dst = e.links(dst, s)
	if s.Status().Code == codes.Error {
		dst = append(dst, `,"status":{"code":2}`...)
	}
	return closeLine(append(dst, '}'))
}

func (e *Encoder) events(dst []byte, s sdktrace.ReadOnlySpan) []byte {
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

func (e *Encoder) links(dst []byte, s sdktrace.ReadOnlySpan) []byte {
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
