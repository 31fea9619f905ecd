package otlp

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"magicode/telemetry/config"
	"magicode/telemetry/otlpjson"
	"magicode/telemetry/point"
)

func everything(otlpjson.Record, string, attribute.Value) bool { return true }

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, n int64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}}
}

// strict decodes and refuses fields that the official type does not know.
func strict(t *testing.T, b []byte, m proto.Message) {
	t.Helper()
	if err := (proto.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	if n := len(m.ProtoReflect().GetUnknown()); n > 0 {
		t.Fatalf("%d unknown bytes", n)
	}
	again, err := proto.Marshal(m)
	if err != nil || len(again) != len(b) {
		t.Errorf("%d bytes become %d: %v", len(b), len(again), err)
	}
}

var (
	at      = time.Unix(1796082008, 5)
	traceID = trace.TraceID{0xe2, 15: 1}
	spanCtx = trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{0x91, 7: 2}})
	parent  = trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{7: 9}})
)

func sample() sdktrace.ReadOnlySpan {
	return tracetest.SpanStub{
		Name: "name", SpanContext: spanCtx, Parent: parent, SpanKind: trace.SpanKindClient, StartTime: at, EndTime: at.Add(time.Second),
		Attributes: []attribute.KeyValue{attribute.Int64("n", -7), attribute.Bool("b", true), attribute.Float64("f", 0.5), attribute.String("s", strings.Repeat("ü", 100)),
			attribute.StringSlice("l", []string{"x", ""}), attribute.Int64Slice("i", []int64{1, -2}), attribute.String("bad", "\xff")},
		Events: []sdktrace.Event{{Name: "e", Time: at, Attributes: []attribute.KeyValue{attribute.Int64("k", 1)}}},
		Links:  []sdktrace.Link{{SpanContext: parent}},
		Status: sdktrace.Status{Code: codes.Error, Description: "never said"},
	}.Snapshot()
}

func testOptions() Options {
	return Options{Scope: "scope", Version: "1.2", Allow: everything, Resource: []attribute.KeyValue{attribute.String("service.name", "magi-code"), attribute.Int64("process.pid", 7)},
		Lost: func(Signal, Loss, uint64) {}, Failed: func(string) {}}
}

func TestSpanAgainstOfficialTypes(t *testing.T) {
	o := testOptions()
	e := newEncoder(&o)
	var got collectortrace.ExportTraceServiceRequest
	strict(t, e.request(nil, e.span(nil, sample())), &got)
	array := func(values ...*common.AnyValue) *common.AnyValue {
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: values}}}
	}
	want := &collectortrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*common.KeyValue{text("service.name", "magi-code"), number("process.pid", 7)}},
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "scope", Version: "1.2"},
			Spans: []*tracepb.Span{{
				TraceId: traceID[:], SpanId: []byte{0x91, 0, 0, 0, 0, 0, 0, 2}, ParentSpanId: []byte{0, 0, 0, 0, 0, 0, 0, 9}, Name: "name", Kind: tracepb.Span_SPAN_KIND_CLIENT,
				StartTimeUnixNano: uint64(at.UnixNano()), EndTimeUnixNano: uint64(at.Add(time.Second).UnixNano()), Flags: 0x101,
				Attributes: []*common.KeyValue{number("n", -7), {Key: "b", Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}},
					{Key: "f", Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: 0.5}}}, text("s", strings.Repeat("ü", 100)),
					{Key: "l", Value: array(text("", "x").Value, text("", "").Value)}, {Key: "i", Value: array(number("", 1).Value, number("", -2).Value)}, text("bad", "\uFFFD")},
				Events: []*tracepb.Span_Event{{TimeUnixNano: uint64(at.UnixNano()), Name: "e", Attributes: []*common.KeyValue{number("k", 1)}}},
				Links:  []*tracepb.Span_Link{{TraceId: traceID[:], SpanId: []byte{0, 0, 0, 0, 0, 0, 0, 9}}},
				Status: &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR},
			}},
		}},
	}}}
	if diff := cmp.Diff(want, &got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMetricsAgainstOfficialTypes(t *testing.T) {
	o := testOptions()
	e := newEncoder(&o)
	label := []point.Label{{Key: "k", Value: "v"}}
	from, to := uint64(at.UnixNano()), uint64(at.Add(time.Second).UnixNano())
	g := Group{From: at, To: at.Add(time.Second), Metrics: []point.Metric{
		{Name: "none"},
		{Name: "c", Unit: "{x}", Type: point.Counter, Points: []point.Point{{Value: 3, Labels: label}, {Value: 0}}},
		{Name: "g", Unit: "By", Type: point.Gauge, Points: []point.Point{{Value: 1.5}}},
		{Name: "h", Unit: "s", Type: point.Histogram, Bounds: []float64{0.1, 1}, Points: []point.Point{{Buckets: []uint64{1, 0, 2}, Count: 3, Sum: 7, Labels: label,
			Exemplars: []point.Exemplar{{Value: 0.05, At: at, Trace: traceID, Span: [8]byte{0x91, 7: 2}}, {Value: 3, At: at.Add(1), Trace: traceID, Span: [8]byte{7: 9}}}}}},
	}}
	records, points := e.metrics(nil, &g)
	g.Delta, g.Metrics = true, g.Metrics[3:]
	records, more := e.metrics(records, &g)
	if points != 4 || more != 1 {
		t.Errorf("%d and %d points", points, more)
	}
	var got collectormetrics.ExportMetricsServiceRequest
	strict(t, e.request(nil, records), &got)
	sum := 7.0
	histogram := func(temporality metricspb.AggregationTemporality) *metricspb.Metric {
		return &metricspb.Metric{Name: "h", Unit: "s", Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: temporality,
			DataPoints: []*metricspb.HistogramDataPoint{{StartTimeUnixNano: from, TimeUnixNano: to, Count: 3, Sum: &sum, BucketCounts: []uint64{1, 0, 2},
				ExplicitBounds: []float64{0.1, 1}, Attributes: []*common.KeyValue{text("k", "v")}, Exemplars: []*metricspb.Exemplar{
					{TimeUnixNano: from, Value: &metricspb.Exemplar_AsDouble{AsDouble: 0.05}, SpanId: []byte{0x91, 0, 0, 0, 0, 0, 0, 2}, TraceId: traceID[:]},
					{TimeUnixNano: from + 1, Value: &metricspb.Exemplar_AsDouble{AsDouble: 3}, SpanId: []byte{0, 0, 0, 0, 0, 0, 0, 9}, TraceId: traceID[:]}}}}}}}
	}
	value := func(start uint64, v float64, kv ...*common.KeyValue) *metricspb.NumberDataPoint {
		return &metricspb.NumberDataPoint{StartTimeUnixNano: start, TimeUnixNano: to, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: v}, Attributes: kv}
	}
	want := []*metricspb.Metric{
		{Name: "c", Unit: "{x}", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{AggregationTemporality: 2, IsMonotonic: true,
			DataPoints: []*metricspb.NumberDataPoint{value(from, 3, text("k", "v")), value(from, 0)}}}},
		{Name: "g", Unit: "By", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{value(0, 1.5)}}}},
		histogram(2), histogram(1),
	}
	if diff := cmp.Diff(want, got.ResourceMetrics[0].ScopeMetrics[0].Metrics, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAnySpan: whatever is in a span, the official type reads it.
func TestAnySpan(t *testing.T) {
	o := testOptions()
	e := newEncoder(&o)
	rapid.Check(t, func(r *rapid.T) {
		var records []byte
		n := rapid.IntRange(1, 5).Draw(r, "spans")
		var names []string
		for range n {
			stub := tracetest.SpanStub{Name: rapid.StringN(0, 300, 20000).Draw(r, "name"), SpanContext: spanCtx}
			for _, v := range rapid.SliceOfN(rapid.Int64(), 0, 40).Draw(r, "numbers") {
				stub.Attributes = append(stub.Attributes, attribute.Int64("n", v), attribute.Float64("f", math.Float64frombits(uint64(v))))
			}
			names = append(names, stub.Name)
			records = e.span(records, stub.Snapshot())
		}
		var got collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(e.request(nil, records), &got); err != nil {
			r.Fatal(err)
		}
		for i, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
			if s.Name != names[i] {
				r.Errorf("%q is not %q", s.Name, names[i])
			}
		}
	})
}

func TestRejected(t *testing.T) {
	answer := func(n int64) []byte {
		b, _ := proto.Marshal(&collectortrace.ExportTraceServiceResponse{PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: n, ErrorMessage: "text"}})
		return b
	}
	for name, c := range map[string]struct {
		body []byte
		want uint64
	}{"none": {nil, 0}, "empty": {answer(0), 0}, "some": {answer(300), 300}, "negative": {answer(-1), 0}, "noise": {[]byte("<html>"), 0}, "cut": {answer(300)[:3], 0}} {
		if got := rejected(c.body); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func FuzzRejected(f *testing.F) {
	f.Add([]byte{0x0a, 0x03, 0x08, 0xac, 0x02})
	f.Fuzz(func(_ *testing.T, b []byte) { rejected(b) })
}

// TestResource: the user's own attributes go along, and replace nothing but the name.
func TestResource(t *testing.T) {
	o := testOptions()
	o.Allow = func(_ otlpjson.Record, key string, _ attribute.Value) bool { return key != "process.pid" }
	o.Config.Resource = []config.Attribute{{Key: "team", Value: "a"}, {Key: "team", Value: "b"}, {Key: "process.pid", Value: "9"}, {Key: "service.name", Value: "mine"}}
	var got resourcepb.Resource
	if err := proto.Unmarshal(newEncoder(&o).resource, &got); err != nil {
		t.Fatal(err)
	}
	want := &resourcepb.Resource{Attributes: []*common.KeyValue{text("service.name", "mine"), text("team", "b")}}
	if diff := cmp.Diff(want, &got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestAllowlist(t *testing.T) {
	o := testOptions()
	o.Allow = func(r otlpjson.Record, key string, _ attribute.Value) bool {
		return r == otlpjson.RecordSpan && key == "n"
	}
	e := newEncoder(&o)
	var got collectortrace.ExportTraceServiceRequest
	strict(t, e.request(nil, e.span(nil, sample())), &got)
	s := got.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if len(s.Attributes) != 1 || len(s.Events[0].Attributes) != 0 || len(got.ResourceSpans[0].Resource.Attributes) != 0 {
		t.Errorf("%v", &got)
	}
}
