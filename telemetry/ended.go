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
// one method that no other package can have, which nobody calls. It is for one
// goroutine at a time.
type endedSpan struct {
	sdktrace.ReadOnlySpan
	o      *openSpan
	tracer *tracer
	room   []attribute.KeyValue
	events []sdktrace.Event
}

var _ sdktrace.ReadOnlySpan = (*endedSpan)(nil)

// Name and the methods below are those of the interface.
func (e *endedSpan) Name() string                   { return e.o.name() }
func (e *endedSpan) SpanContext() trace.SpanContext { return e.o.id.context() }
func (e *endedSpan) SpanKind() trace.SpanKind       { return role(kinds[e.o.kind].role) }
func (e *endedSpan) StartTime() time.Time           { return e.o.core.clock(e.o.start) }
func (e *endedSpan) EndTime() time.Time             { return e.o.core.clock(e.o.ends()) }

// Attributes are made anew each time, in the room of e.
func (e *endedSpan) Attributes() []attribute.KeyValue {
	e.room = e.o.attributes(e.room[:0])
	return e.room
}

func (e *endedSpan) Parent() trace.SpanContext {
	if kinds[e.o.kind].root {
		return trace.SpanContext{}
	}
	return e.o.above.context()
}

// Links are from a root to the span it began in, or to the host's, and from the
// cleanup to the run that was under way.
func (e *endedSpan) Links() []sdktrace.Link {
	var to trace.SpanContext
	switch {
	case e.o.kind == SpanChild:
		to = e.tracer.link
	case kinds[e.o.kind].root:
		to = e.o.above.context()
	case e.o.kind == SpanCleanup:
		if run := e.o.core.cleaned.Load(); run != nil {
			run.mu.Lock()
			to = run.id.context()
			run.mu.Unlock()
		}
	}
	if !to.IsValid() {
		return nil
	}
	return []sdktrace.Link{{SpanContext: to}}
}

// Events are made anew each time, in the room of e.
func (e *endedSpan) Events() []sdktrace.Event {
	e.events = e.events[:0]
	for _, x := range e.o.happened {
		e.events = append(e.events, sdktrace.Event{Name: eventNames[x.name], Time: e.o.core.clock(x.at)})
	}
	return e.events
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
