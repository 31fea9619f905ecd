package telemetry

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracer gives spans their identity and hands the ended ones on.
type tracer struct {
	core *core
	hub  hub
	// resource and scope are what every span is said to come from.
	resource *resource.Resource
	scope    instrumentation.Scope
	// link is the span of the host that started the child, if it may be linked to.
	link trace.SpanContext
}

func newTracer(c *core, d *decision) tracer {
	t := tracer{core: c, hub: hub{core: c, d: d}, resource: resource.NewSchemaless(resourceAttributes(d.id)...),
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
		attribute.Int("magi.capture.schema", 1),
	}
}

// start makes the identity of o: of its trace, unless it begins one, and its own.
func (t *tracer) start(o *openSpan) (sc, above trace.SpanContext) {
	above = o.ancestor()
	id := trace.SpanContextConfig{TraceFlags: trace.FlagsSampled}
	for !id.SpanID.IsValid() {
		binary.LittleEndian.PutUint64(id.SpanID[:], rand.Uint64())
	}
	if above.IsValid() && !kinds[o.kind].root {
		id.TraceID = above.TraceID()
	}
	for !id.TraceID.IsValid() {
		binary.LittleEndian.PutUint64(id.TraceID[:8], rand.Uint64())
		binary.LittleEndian.PutUint64(id.TraceID[8:], rand.Uint64())
	}
	return trace.NewSpanContext(id), above
}

// ancestor is the nearest span above that is reported; invalid if there is none.
func (o *openSpan) ancestor() trace.SpanContext {
	for p := o.parent; p != nil; p = p.parent {
		p.mu.Lock()
		sc := p.sc
		p.mu.Unlock()
		if sc.IsValid() {
			return sc
		}
	}
	return trace.SpanContext{}
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

// hub queues ended spans. It never waits.
type hub struct {
	core *core
	d    *decision
}

func (h *hub) OnEnd(s sdktrace.ReadOnlySpan) {
	if h.d.otlp != nil {
		h.d.otlp.Span(s)
	}
	if h.d.config.File.On {
		h.d.put(h.core, item{ended: s}, urgentName(s.Name()))
	}
}

// urgentName: the end of the story goes ahead of the rest.
func urgentName(name string) bool {
	child, cleanup := kinds[SpanChild].name, kinds[SpanCleanup].name
	return name == child || len(name) >= len(cleanup) && name[:len(cleanup)] == cleanup
}
