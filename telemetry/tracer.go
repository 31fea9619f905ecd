package telemetry

import (
	"context"
	"os"
	"runtime"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracer makes OpenTelemetry spans of ours. Global providers are never set: a
// library that uses them stays silent.
type tracer struct {
	core *core
	otel trace.Tracer
	// link is the span of the host that started the child, if it may be linked to.
	link trace.SpanContext
}

func newTracer(c *core, d *decision) tracer {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(resource.NewSchemaless(resourceAttributes(d.id)...)),
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: maxText, AttributeCountLimit: maxAttributes + 8, EventCountLimit: maxEvents,
			LinkCountLimit: 2, AttributePerEventCountLimit: 4, AttributePerLinkCountLimit: 0,
		}),
		sdktrace.WithSpanProcessor(&hub{core: c, d: d}),
	)
	t := tracer{core: c, otel: provider.Tracer(scopeName, trace.WithInstrumentationVersion(d.id.Version))}
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

// start opens the OpenTelemetry span of o.
func (t *tracer) start(o *openSpan) trace.Span {
	info := &kinds[o.kind]
	opts := make([]trace.SpanStartOption, 0, 4)
	opts = append(opts, trace.WithTimestamp(t.core.clock(o.start)), trace.WithSpanKind(role(info.role)))
	ctx := context.Background()
	above := o.ancestor()
	switch {
	case o.kind == SpanChild && t.link.IsValid():
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: t.link}))
	case info.root && above != nil:
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: above.SpanContext()}))
	case above != nil:
		ctx = trace.ContextWithSpan(ctx, above)
	}
	_, span := t.otel.Start(ctx, info.name, opts...)
	return span
}

// ancestor is the nearest span above that is reported.
func (o *openSpan) ancestor() trace.Span {
	for p := o.parent; p != nil; p = p.parent {
		p.mu.Lock()
		span := p.span
		p.mu.Unlock()
		if span != nil {
			return span
		}
	}
	return nil
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

// hub receives ended spans from OpenTelemetry and queues them. It never waits.
type hub struct {
	core *core
	d    *decision
}

func (h *hub) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (h *hub) OnEnd(s sdktrace.ReadOnlySpan) {
	h.d.put(h.core, item{ended: s}, urgentName(s.Name()))
}

// Shutdown and ForceFlush do nothing: Exit has a barrier of its own.
func (h *hub) Shutdown(context.Context) error { return nil }

func (h *hub) ForceFlush(context.Context) error { return nil }

// urgentName: the end of the story goes ahead of the rest.
func urgentName(name string) bool {
	child, cleanup := kinds[SpanChild].name, kinds[SpanCleanup].name
	return name == child || len(name) >= len(cleanup) && name[:len(cleanup)] == cleanup
}
