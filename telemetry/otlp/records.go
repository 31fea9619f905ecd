package otlp

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"magicode/telemetry/otlpjson"
	"magicode/telemetry/point"
)

// sampledLocal: flags of a span: sampled, and the parent is known to be local.
const sampledLocal = 0x101

// span appends an ended span, as the field of a ScopeSpans.
func (e *encoder) span(dst []byte, s sdktrace.ReadOnlySpan) []byte {
	dst, at := begin(dst, 2)
	sc := s.SpanContext()
	traceID, spanID := sc.TraceID(), sc.SpanID()
	dst = appendBytes(appendBytes(dst, 1, traceID[:]), 2, spanID[:])
	if parent := s.Parent().SpanID(); parent.IsValid() {
		dst = appendBytes(dst, 4, parent[:])
	}
	dst = appendText(dst, 5, s.Name())
	dst = appendEnum(dst, 6, uint64(s.SpanKind()))
	dst = appendTime(appendTime(dst, 7, s.StartTime()), 8, s.EndTime())
	dst = e.attributes(dst, 9, otlpjson.RecordSpan, s.Attributes())
	for _, ev := range s.Events() {
		var event int
		dst, event = begin(dst, 11)
		dst = appendText(appendTime(dst, 1, ev.Time), 2, ev.Name)
		dst = finish(e.attributes(dst, 3, otlpjson.RecordEvent, ev.Attributes), event)
	}
	for _, l := range s.Links() {
		var link int
		traceID, spanID := l.SpanContext.TraceID(), l.SpanContext.SpanID()
		dst, link = begin(dst, 13)
		dst = finish(appendBytes(appendBytes(dst, 1, traceID[:]), 2, spanID[:]), link)
	}
	if s.Status().Code == codes.Error {
		var status int
		dst, status = begin(dst, 15)
		dst = finish(appendEnum(dst, 3, 2), status) // STATUS_CODE_ERROR, never with a text
	}
	dst = protowire.AppendFixed32(protowire.AppendTag(dst, 16, protowire.Fixed32Type), sampledLocal)
	return finish(dst, at)
}

// Group is metrics that were counted over the same time.
type Group struct {
	Metrics []point.Metric
	From    time.Time
	To      time.Time
	Delta   bool // counted since the last time, not since the start
}

// Temporalities of OTLP.
const (
	temporalityDelta      = 1
	temporalityCumulative = 2
)

// metrics appends the metrics of a group that have points, as fields of a
// ScopeMetrics, and returns how many points that were.
func (e *encoder) metrics(dst []byte, g *Group) (out []byte, points int) {
	for i := range g.Metrics {
		if m := &g.Metrics[i]; len(m.Points) > 0 {
			dst = e.metric(dst, m, g)
			points += len(m.Points)
		}
	}
	return dst, points
}

func (e *encoder) metric(dst []byte, m *point.Metric, g *Group) []byte {
	dst, at := begin(dst, 2)
	dst = appendText(appendText(dst, 1, m.Name), 3, m.Unit)
	kind := map[point.Type]protowire.Number{point.Gauge: 5, point.Counter: 7, point.Histogram: 9}[m.Type]
	dst, data := begin(dst, kind)
	for i := range m.Points {
		dst = e.point(dst, m, &m.Points[i], g)
	}
	if m.Type != point.Gauge {
		temporality := uint64(temporalityCumulative)
		if g.Delta {
			temporality = temporalityDelta
		}
		dst = appendEnum(dst, 2, temporality)
	}
	if m.Type == point.Counter {
		dst = appendEnum(dst, 3, 1) // monotonic
	}
	return finish(finish(dst, data), at)
}

func (e *encoder) point(dst []byte, m *point.Metric, p *point.Point, g *Group) []byte {
	dst, at := begin(dst, 1)
	if m.Type != point.Gauge {
		dst = appendTime(dst, 2, g.From)
	}
	dst = appendTime(dst, 3, g.To)
	labels := make([]attribute.KeyValue, len(p.Labels))
	for i, l := range p.Labels {
		labels[i] = l.Attribute()
	}
	if m.Type != point.Histogram {
		dst = appendDouble(dst, 4, p.Value)
		return finish(e.attributes(dst, 7, otlpjson.RecordMetric, labels), at)
	}
	dst = appendDouble(appendFixed(dst, 4, p.Count), 5, p.Sum)
	dst = appendPacked(dst, 6, p.Buckets, func(n uint64) uint64 { return n })
	dst = appendPacked(dst, 7, m.Bounds, math.Float64bits)
	for i := range p.Exemplars {
		x := &p.Exemplars[i]
		var exemplar int
		dst, exemplar = begin(dst, 8)
		dst = appendDouble(appendTime(dst, 2, x.At), 3, x.Value)
		dst = finish(appendBytes(appendBytes(dst, 4, x.Span[:]), 5, x.Trace[:]), exemplar)
	}
	return finish(e.attributes(dst, 9, otlpjson.RecordMetric, labels), at)
}

func appendTime(dst []byte, field protowire.Number, t time.Time) []byte {
	return appendFixed(dst, field, uint64(t.UnixNano()))
}

// valid is s as protobuf takes it.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
