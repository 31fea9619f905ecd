package telemetry

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

// tracer is what all spans of a child have in common.
type tracer struct {
	// resource and scope are what every span is said to come from.
	resource *resource.Resource
	scope    instrumentation.Scope
	// link is the span of the host that started the child, if it may be linked to.
	link trace.SpanContext
}

func newTracer(c *core, d *decision) tracer {
	t := tracer{resource: resource.NewSchemaless(resourceAttributes(d.id)...),
		scope: instrumentation.Scope{Name: scopeName, Version: d.id.Version}}
	if d.config.LinkParent {
		t.link = traceParent(c.environ)
	}
	return t
}

// resourceAttributes say which child this is, and nothing of where it runs.
func resourceAttributes(id Identity) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("service.name", serviceName), attribute.String("service.version", id.Version),
		attribute.String("service.instance.id", id.InstanceID),
		attribute.String("telemetry.sdk.name", "opentelemetry"), attribute.String("telemetry.sdk.language", "go"),
		attribute.Int("process.pid", os.Getpid()),
		attribute.String("process.runtime.name", "go"), attribute.String("process.runtime.version", runtime.Version()),
		attribute.String("os.type", runtime.GOOS), attribute.String("host.arch", runtime.GOARCH),
		attribute.Int(keySchema, 1),
	}
}

// spanID says which span of which trace. The zero value is none.
type spanID struct {
	trace trace.TraceID
	span  trace.SpanID
}

func (i spanID) valid() bool { return i.span.IsValid() }

func (i spanID) context() trace.SpanContext {
	if !i.valid() {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: i.trace, SpanID: i.span, TraceFlags: trace.FlagsSampled})
}

// identify makes the identity of o: of its trace, unless it begins one, and its own.
func (o *openSpan) identify() (id, above spanID) {
	above = o.ancestor()
	for !id.span.IsValid() {
		binary.LittleEndian.PutUint64(id.span[:], rand.Uint64())
	}
	if above.valid() && !kinds[o.kind].root {
		id.trace = above.trace
	}
	for !id.trace.IsValid() {
		binary.LittleEndian.PutUint64(id.trace[:8], rand.Uint64())
		binary.LittleEndian.PutUint64(id.trace[8:], rand.Uint64())
	}
	return id, above
}

// ancestor is the nearest span above that is reported; none: not valid.
func (o *openSpan) ancestor() spanID {
	for p := o.parent; p != nil; p = p.parent {
		p.mu.Lock()
		id := p.id
		p.mu.Unlock()
		if id.valid() {
			return id
		}
	}
	return spanID{}
}

func role(r spanRole) trace.SpanKind {
	switch r {
	case roleServer:
		return trace.SpanKindServer
	case roleClient:
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}

// traceParent reads the W3C form 00-<trace>-<span>-<flags>.
func traceParent(environ []string) trace.SpanContext {
	const name = "TRACEPARENT="
	for _, kv := range environ {
		if len(kv) != len(name)+55 || kv[:len(name)] != name {
			continue
		}
		v := kv[len(name):]
		traceID, err1 := trace.TraceIDFromHex(v[3:35])
		spanID, err2 := trace.SpanIDFromHex(v[36:52])
		if err1 == nil && err2 == nil && v[:3] == "00-" && v[35] == '-' && v[52] == '-' {
			return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, Remote: true})
		}
	}
	return trace.SpanContext{}
}
