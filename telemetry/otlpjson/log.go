package otlpjson

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Log is a record beside the spans: that one began, how things stand, the end.
type Log struct {
	Time       time.Time
	Name       string
	Span       trace.SpanContext // zero: none
	Attributes []attribute.KeyValue
	Body       string // of a goroutine dump; "" for none
}

// AppendLog appends the line of one record.
func (e *Encoder) AppendLog(dst []byte, l Log) []byte {
	dst = e.open(dst, "resourceLogs", "scopeLogs", "logRecords")
	dst = appendTime(append(dst, `{"timeUnixNano":`...), l.Time)
	dst = appendString(append(dst, `,"severityNumber":5,"eventName":`...), l.Name)
	if l.Span.IsValid() {
		traceID, spanID := l.Span.TraceID(), l.Span.SpanID()
		dst = appendHex(append(dst, `,"traceId":`...), traceID[:])
		dst = appendHex(append(dst, `,"spanId":`...), spanID[:])
	}
	if l.Body != "" {
		dst = append(appendString(append(dst, `,"body":{"stringValue":`...), l.Body), '}')
	}
	dst = e.attributes(append(dst, ','), RecordLog, l.Attributes)
	return closeLine(append(dst, '}'))
}
