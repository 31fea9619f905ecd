package otlpjson

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"magicode/telemetry/point"
)

func everything(Record, string, attribute.Value) bool { return true }

func encoder(allow Allow) *Encoder {
	return New([]attribute.KeyValue{attribute.String("service.name", "x")}, "scope", "1", allow)
}

// sdk is a span of the SDK as the encoder takes it.
type sdk struct {
	sdktrace.ReadOnlySpan
	e *Encoder
}

func (s sdk) IDs() (of trace.TraceID, span, parent trace.SpanID) {
	return s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
}

func (s sdk) AppendAttributes(dst []byte) []byte {
	for _, kv := range s.Attributes() {
		dst = s.e.AppendAttribute(dst, RecordSpan, &kv)
	}
	return dst
}

func (e *Encoder) appendSDK(dst []byte, last int, s sdktrace.ReadOnlySpan) ([]byte, int, bool) {
	return e.AppendSpan(dst, last, sdk{s, e})
}

const head = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]}`

var (
	at      = time.Unix(1, 5)
	spanCtx = trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0xe2, 15: 1}, SpanID: trace.SpanID{0x91, 7: 2}})
)

func sample() sdktrace.ReadOnlySpan {
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: spanCtx.TraceID(), SpanID: trace.SpanID{7: 9}})
	return tracetest.SpanStub{
		Name: `a "name"`, SpanContext: spanCtx, Parent: parent, SpanKind: trace.SpanKindServer, StartTime: at, EndTime: at.Add(time.Second),
		Attributes: []attribute.KeyValue{attribute.Int64("n", -7), attribute.Bool("b", true), attribute.Float64("f", 0.5), attribute.String("s", "ü\x01\n\\"),
			attribute.StringSlice("l", []string{"x"}), attribute.Int64Slice("i", []int64{1, 2})},
		Events: []sdktrace.Event{{Name: "e", Time: at}},
		Links:  []sdktrace.Link{{SpanContext: parent}},
		Status: sdktrace.Status{Code: codes.Error, Description: "never said"},
	}.Snapshot()
}

func TestSpan(t *testing.T) {
	line, _, _ := encoder(everything).appendSDK(nil, 0, sample())
	got := string(line)
	want := `{"resourceSpans":[{` + head + `,"scopeSpans":[{"scope":{"name":"scope","version":"1"},"spans":[{"traceId":"e2000000000000000000000000000001",` +
		`"spanId":"9100000000000002","parentSpanId":"0000000000000009","flags":257,"name":"a \"name\"","kind":2,"startTimeUnixNano":"1000000005",` +
		`"endTimeUnixNano":"2000000005","attributes":[{"key":"n","value":{"intValue":"-7"}},{"key":"b","value":{"boolValue":true}},` +
		`{"key":"f","value":{"doubleValue":0.5}},{"key":"s","value":{"stringValue":"ü\u0001\n\\"}},` +
		`{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"x"}]}}},{"key":"i","value":{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}}],` +
		`"events":[{"timeUnixNano":"1000000005","name":"e"}],"links":[{"traceId":"e2000000000000000000000000000001","spanId":"0000000000000009"}],` +
		`"status":{"code":2}}]}]}]}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !json.Valid([]byte(got)) || strings.Contains(got, "never said") {
		t.Error("no JSON, or a description")
	}
}

// TestSharedLine: spans share lines that do not grow long, each says what it says
// alone, and one that is too long leaves the others as they were.
func TestSharedLine(t *testing.T) {
	e := encoder(everything)
	alone, _, _ := e.appendSDK(nil, 0, sample())
	_, want, _ := strings.Cut(string(alone), `"spans":[`)
	want = strings.TrimSuffix(want, lineEnd)
	huge := tracetest.SpanStub{Name: strings.Repeat("x", MaxLine), SpanContext: spanCtx}.Snapshot()
	var lines []byte
	last, ok := 0, false
	const spans = 100
	for i := range spans {
		if lines, last, ok = e.appendSDK(lines, last, sample()); !ok {
			t.Fatalf("span %d is left out", i)
		}
		before := string(lines)
		if lines, last, ok = e.appendSDK(lines, last, huge); ok || string(lines) != before {
			t.Fatalf("a span that is too long, after %d: %v, %d bytes more", i, ok, len(lines)-len(before))
		}
	}
	if n := strings.Count(string(lines), want); n != spans {
		t.Errorf("%d of %d spans", n, spans)
	}
	n := 0
	for line := range strings.Lines(string(lines)) {
		n++
		if len(line) > sharedLine+len(want)+len(lineEnd) || !json.Valid([]byte(line)) || strings.Count(line, head) != 1 {
			t.Errorf("a line of %d bytes: %.200s", len(line), line)
		}
	}
	if n < 2 || n > spans/2 {
		t.Errorf("%d lines", n)
	}
}

func TestLog(t *testing.T) {
	got := string(encoder(everything).AppendLog(nil, Log{Time: at, Name: "magi.exit", Body: "a\nb"}))
	want := `{"resourceLogs":[{` + head + `,"scopeLogs":[{"scope":{"name":"scope","version":"1"},"logRecords":[{"timeUnixNano":"1000000005","severityNumber":5,` +
		`"eventName":"magi.exit","body":{"stringValue":"a\nb"},"attributes":[]}]}]}]}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMetrics(t *testing.T) {
	e := encoder(everything)
	if got := e.AppendMetrics([]byte("x"), []point.Metric{{Name: "none"}}, at, at); string(got) != "x" {
		t.Errorf("metrics without points: %s", got)
	}
	got := string(e.AppendMetrics(nil, []point.Metric{
		{Name: "c", Unit: "{x}", Type: point.Counter, Points: []point.Point{{Value: 3, Labels: []point.Label{{Key: "k", Value: "v"}}}}},
		{Name: "g", Unit: "By", Type: point.Gauge, Points: []point.Point{{Value: 1.5}}},
		{Name: "h", Unit: "s", Type: point.Histogram, Bounds: []float64{0.1, 1}, Points: []point.Point{{Buckets: []uint64{1, 0, 2}, Count: 3, Sum: 7}}},
	}, at, at.Add(1)))
	for _, want := range []string{
		`{"name":"c","unit":"{x}","sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{"attributes":[{"key":"k","value":{"stringValue":"v"}}],"startTimeUnixNano":"1000000005","timeUnixNano":"1000000006","asDouble":3}]}}`,
		`{"name":"g","unit":"By","gauge":{"dataPoints":[{"attributes":[],"startTimeUnixNano":"1000000005","timeUnixNano":"1000000006","asDouble":1.5}]}}`,
		`"histogram":{"aggregationTemporality":1,"dataPoints":[{"attributes":[],"startTimeUnixNano":"1000000005","timeUnixNano":"1000000006","count":"3","sum":7,"bucketCounts":["1","0","2"],"explicitBounds":[0.1,1]}]}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s\nin %s", want, got)
		}
	}
	if !json.Valid([]byte(got)) {
		t.Errorf("no JSON: %s", got)
	}
}

func TestAllowlist(t *testing.T) {
	e := encoder(func(r Record, key string, _ attribute.Value) bool { return r == RecordResource || key == "n" })
	line, _, _ := e.appendSDK(nil, 0, sample())
	got := string(line)
	if !strings.Contains(got, `"attributes":[{"key":"n","value":{"intValue":"-7"}}]`) || strings.Count(got, `"key":`) != 2 {
		t.Error(got)
	}
}

func TestSpanDoesNotAllocate(t *testing.T) {
	e, s, buf := encoder(everything), sample(), make([]byte, 0, 4096)
	var span Span = sdk{s, e}
	// The stub copies its slices; the SDK's own span does as well.
	base := testing.AllocsPerRun(100, func() { _, _, _ = s.Attributes(), s.Events(), s.Links() })
	if n := testing.AllocsPerRun(100, func() { e.AppendSpan(buf, 0, span) }); n > base+2 {
		t.Errorf("%v allocations, %v of them to get at the span", n, base)
	}
}

// TestDigits: a number that is put together is the one that is encoded at once.
func TestDigits(t *testing.T) {
	e := encoder(everything)
	for _, key := range []string{"n", "n1", "1"} {
		one := attribute.Int64(key, -100)
		cut := CutDigits(e.AppendAttribute(nil, RecordSpan, &one))
		for _, n := range []int64{0, 7, -7, math.MaxInt64, math.MinInt64} {
			kv := attribute.Int64(key, n)
			if got, want := string(AppendDigits(slices.Clip(cut), n)), string(e.AppendAttribute(nil, RecordSpan, &kv)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	if len(CutDigits(nil)) != 0 {
		t.Error("something of nothing")
	}
}

// FuzzString: every text is one JSON string that says the same.
func FuzzString(f *testing.F) {
	f.Add("a\x00\x7f\"\\\n\t\u2028 ü")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && len([]rune(back)) != len([]rune(s)) {
			t.Errorf("%q: %v %q", s, err, back)
		}
	})
}
