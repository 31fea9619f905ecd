package telemetry

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"magicode/bench/host"
	"magicode/telemetry"
	"magicode/telemetry/dump"
	"magicode/telemetry/otlpjson"
	"magicode/telemetry/point"
	"magicode/telemetry/reader"
)

// capturing is telemetry that writes a file.
func capturing(b *testing.B) telemetry.Tel {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	tel := telemetry.New([]string{"MC_TELEMETRY=file"}, time.Now())
	tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-0000-4000-8000-000000000001", StateDir: dir, Version: "bench"})
	if !tel.On() {
		b.Fatal("telemetry is not on")
	}
	b.Cleanup(func() { tel.Exit(0, telemetry.WordOf("shutdown"), false) })
	return tel
}

// states are the two that are compared.
func states(b *testing.B, run func(b *testing.B, name string, tel telemetry.Tel)) {
	run(b, "off", telemetry.Tel{})
	run(b, "file", capturing(b))
}

// BenchmarkHook calls each hook that a frame, a delta or a sync has. hook=none is
// the floor: the loop and a call of nothing.
func BenchmarkHook(b *testing.B) {
	now := time.Now()
	late, data := now.Add(2*time.Second), telemetry.WordOf("data")
	states(b, func(b *testing.B, state string, t telemetry.Tel) {
		for _, h := range []struct {
			name string
			call func()
		}{
			{"none", func() {}},
			{"FrameIn", func() { t.FrameIn(now, 3*time.Microsecond, 180, telemetry.FrameRequest) }},
			{"FrameQueued", func() { t.FrameQueued(1) }},
			{"FrameWritten", func() { t.FrameWritten(now, late, 420, telemetry.FrameMessageDelta, 0) }},
			{"WriteCall", func() { t.WriteCall(420, false) }},
			{"WorkerEvents", func() { t.WorkerEvents(1) }},
			{"EventWaited", func() { t.EventWaited(time.Millisecond) }},
			{"DeltaQueued", func() { t.DeltaQueued() }},
			{"DeltaMerged", func() { t.DeltaMerged() }},
			{"DeltaDropped", func() { t.DeltaDropped() }},
			{"Synced", func() { t.Synced(data, time.Millisecond) }},
		} {
			b.Run("hook="+h.name+"/telemetry="+state, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					h.call()
				}
			})
		}
	})
}

// BenchmarkSpan is a span with three attributes, begin to end. cpu-ns/op is the
// processor time of the whole process for it: with the writing beside.
func BenchmarkSpan(b *testing.B) {
	states(b, func(b *testing.B, state string, t telemetry.Tel) {
		b.Run("telemetry="+state, func(b *testing.B) {
			b.ReportAllocs()
			ctx, run := t.Begin(context.Background(), telemetry.SpanChild)
			defer run.End()
			used := host.OwnCPU()
			for b.Loop() {
				_, s := t.Begin(ctx, telemetry.SpanRequest)
				s.Int(telemetry.KeyHistoryBytes, 1000)
				s.Str(telemetry.KeyLease, 1)
				s.Bool(telemetry.KeyHistoryComplete, true)
				s.End()
			}
			b.ReportMetric(float64(host.OwnCPU()-used)/float64(b.N), "cpu-ns/op")
		})
	})
}

// sdk is a span of the SDK as the encoder takes it.
type sdk struct {
	sdktrace.ReadOnlySpan
	e *otlpjson.Encoder
}

func (s sdk) IDs() (of trace.TraceID, span, parent trace.SpanID) {
	return s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
}

func (s sdk) AppendAttributes(dst []byte) []byte {
	for _, kv := range s.Attributes() {
		dst = s.e.AppendAttribute(dst, otlpjson.RecordSpan, &kv)
	}
	return dst
}

func BenchmarkEncode(b *testing.B) {
	all := func(otlpjson.Record, string, attribute.Value) bool { return true }
	e := otlpjson.New([]attribute.KeyValue{attribute.String("service.name", "magi-code"), attribute.Int("process.pid", 1)}, "magi-code", "1", all)
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	attrs := []attribute.KeyValue{attribute.String("magi.session.class", "assistant"), attribute.Int("magi.append.bytes", 4096), attribute.String("magi.append.outcome", "durable")}
	span := tracetest.SpanStub{Name: "magi.session.append", SpanContext: sc, StartTime: time.Unix(1, 0), EndTime: time.Unix(2, 0), Attributes: attrs,
		Events: []sdktrace.Event{{Name: "e", Time: time.Unix(1, 5)}}}.Snapshot()
	metrics := []point.Metric{{Name: "magi.frame.size", Unit: "By", Type: point.Histogram, Bounds: []float64{128, 256, 512}, Points: []point.Point{{Buckets: []uint64{1, 2, 3, 4}, Count: 10, Sum: 5}}}}
	buf := make([]byte, 0, 8192)
	var ended otlpjson.Span = sdk{span, e} // once: putting it into the interface is none of the encoder's work
	for _, r := range []struct {
		name   string
		append func() []byte
	}{
		{"span", func() []byte { lines, _, _ := e.AppendSpan(buf, 0, ended); return lines }},
		{"log", func() []byte {
			return e.AppendLog(buf, otlpjson.Log{Time: time.Unix(1, 0), Name: "magi.span.start", Span: sc, Attributes: attrs})
		}},
		{"metrics", func() []byte { return e.AppendMetrics(buf, metrics, time.Unix(1, 0), time.Unix(2, 0)) }},
	} {
		b.Run("record="+r.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(r.append())))
			for b.Loop() {
				r.append()
			}
		})
	}
}

// BenchmarkCut ends all spans that are open, as a detachment does, and waits for
// nothing.
func BenchmarkCut(b *testing.B) {
	for _, open := range []int{10, 1000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			t := capturing(b)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				ctx, _ := t.Begin(context.Background(), telemetry.SpanCleanup)
				for range open - 1 {
					t.Begin(ctx, telemetry.SpanCleanupMCPClose)
				}
				b.StartTimer()
				t.Detach()
			}
		})
	}
}

// BenchmarkDump takes a dump while so many goroutines wait.
func BenchmarkDump(b *testing.B) {
	for _, n := range []int{50, 500} {
		b.Run("goroutines="+strconv.Itoa(n), func(b *testing.B) {
			stop := make(chan struct{})
			var all sync.WaitGroup
			for range n {
				all.Go(func() { <-stop })
			}
			defer all.Wait()
			defer close(stop)
			b.ReportAllocs()
			for b.Loop() {
				if dump.Goroutines() == "" {
					b.Fatal("empty")
				}
			}
		})
	}
}

// BenchmarkTraceRead reads and explains a capture of so many MB of spans.
func BenchmarkTraceRead(b *testing.B) {
	sizes := []int{1, 64}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, mb := range sizes {
		b.Run(fmt.Sprintf("mb=%d", mb), func(b *testing.B) {
			data := spans(mb << 20)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				c := new(reader.Capture)
				if err := c.Read(bytes.NewReader(data), "traces"); err != nil {
					b.Fatal(err)
				}
				if a := reader.Analyse("bench", c); a == nil || c.Torn > 0 {
					b.Fatal("not read")
				}
			}
		})
	}
}

// spans are the lines of a traces file of about so many bytes.
func spans(size int) []byte {
	all := func(otlpjson.Record, string, attribute.Value) bool { return true }
	e := otlpjson.New([]attribute.KeyValue{attribute.String("service.name", "magi-code"), attribute.Int("process.pid", 1)}, "magi-code", "1", all)
	attrs := []attribute.KeyValue{attribute.String("magi.session.class", "assistant"), attribute.Int("magi.append.bytes", 4096)}
	var out []byte
	last := 0
	for i := uint64(1); len(out) < size; i++ {
		var id trace.SpanID
		binary.BigEndian.PutUint64(id[:], i)
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: id})
		at := time.Unix(1, int64(i)*1000)
		out, last, _ = e.AppendSpan(out, last, sdk{tracetest.SpanStub{Name: "magi.session.append", SpanContext: sc, StartTime: at, EndTime: at.Add(time.Millisecond), Attributes: attrs}.Snapshot(), e})
	}
	return out
}
