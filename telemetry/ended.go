package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// endedSpan is an ended span as OpenTelemetry's exporters take it. The SDK's own
// spans hold everything once more: they cost three times as much memory and were
// most of what a recorded span took. The embedded interface is nil: it brings the
// one method that no other package can have, which nobody calls.
type endedSpan struct {
	sdktrace.ReadOnlySpan
	o      *openSpan
	tracer *tracer
}

var _ sdktrace.ReadOnlySpan = (*endedSpan)(nil)

// Name and the methods below are those of the interface.
func (e *endedSpan) Name() string                   { return e.o.name() }
func (e *endedSpan) SpanContext() trace.SpanContext { return e.o.sc }
func (e *endedSpan) SpanKind() trace.SpanKind       { return role(kinds[e.o.kind].role) }
func (e *endedSpan) StartTime() time.Time           { return e.o.core.clock(e.o.start) }
func (e *endedSpan) EndTime() time.Time             { return e.o.core.clock(e.o.end) }

// Attributes is not to be changed.
func (e *endedSpan) Attributes() []attribute.KeyValue { return e.o.attrs }

func (e *endedSpan) Parent() trace.SpanContext {
	if kinds[e.o.kind].root {
		return trace.SpanContext{}
	}
	return e.o.above
}

// Links are from a root to the span it began in, or to the host's.
func (e *endedSpan) Links() []sdktrace.Link {
	to := e.o.above
	if e.o.kind == SpanChild {
		to = e.tracer.link
	}
	if !kinds[e.o.kind].root || !to.IsValid() {
		return nil
	}
	return []sdktrace.Link{{SpanContext: to}}
}

func (e *endedSpan) Events() []sdktrace.Event {
	var out []sdktrace.Event
	for _, x := range e.o.events {
		out = append(out, sdktrace.Event{Name: eventNames[x.name], Time: e.o.core.clock(x.at)})
	}
	return out
}

// Status has no description, ever.
func (e *endedSpan) Status() sdktrace.Status {
	if e.o.faulty() {
		return sdktrace.Status{Code: otelcodes.Error}
	}
	return sdktrace.Status{}
}

func (e *endedSpan) InstrumentationScope() instrumentation.Scope   { return e.tracer.scope }
func (e *endedSpan) InstrumentationLibrary() instrumentation.Scope { return e.tracer.scope }
func (e *endedSpan) Resource() *resource.Resource                  { return e.tracer.resource }
func (e *endedSpan) DroppedAttributes() int                        { return 0 }
func (e *endedSpan) DroppedLinks() int                             { return 0 }
func (e *endedSpan) DroppedEvents() int                            { return 0 }
func (e *endedSpan) ChildSpanCount() int                           { return 0 }
