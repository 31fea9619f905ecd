package telemetry

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry/point"
)

func TestRebucket(t *testing.T) {
	h := &metrics.Float64Histogram{
		Buckets: []float64{math.Inf(-1), 0, 1, 3, 4, 100, math.Inf(1)},
		Counts:  []uint64{0, 2, 4, 0, 1, 3},
	}
	// By the upper edge: 1 fits 1, 3 and what lies across 2 do not fit 2 but 4,
	// 100 and what has no end fit nothing.
	got := rebucket(h, []float64{1, 2, 4})
	want := point.Point{Buckets: []uint64{2, 0, 4, 4}, Count: 10, Sum: 2*0.5 + 4*2 + 52 + 3*100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRuntimeMetrics: all that this system has is there, with its labels, in one
// form that every reader of captures takes.
func TestRuntimeMetrics(t *testing.T) {
	var r runtimeReader
	runtime.GC()
	before := map[string]point.Metric{}
	for _, m := range r.metrics(time.Now().Add(-time.Second)) {
		before[m.Name] = m
	}
	const files, more = "process.unix.file_descriptor.count", 50
	for range more {
		open, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
	}
	after := map[string]point.Metric{}
	for _, m := range r.metrics(time.Now().Add(-time.Second)) {
		after[m.Name] = m
		if !AuditMetric(m.Name, m.Unit) {
			t.Errorf("%s would be foreign", m.Name)
		}
		for _, p := range m.Points {
			for _, l := range p.Labels {
				if !Audit(false, l.Key, l.Value) {
					t.Errorf("%s: %s=%s would be foreign", m.Name, l.Key, l.Value)
				}
			}
			if m.Type != point.Histogram && p.Value <= 0 && m.Name != "process.cpu.time" {
				t.Errorf("%s %v is %v", m.Name, p.Labels, p.Value)
			}
		}
	}
	for _, m := range runtimeInfos {
		if _, ok := after[m.Name]; !ok && (runtime.GOOS == "linux" || m.Name != "process.memory.usage" && m.Name != "process.unix.file_descriptor.count") {
			t.Errorf("no %s", m.Name)
		}
		if m.Type == point.Histogram && len(m.Bounds) != 16 {
			t.Errorf("%s has %d bounds", m.Name, len(m.Bounds))
		}
	}
	for name, n := range map[string]int{"go.memory.used": 2, "process.cpu.time": 2} {
		if len(after[name].Points) != n {
			t.Errorf("%s has the points %v", name, after[name].Points)
		}
	}
	if p := after["go.memory.gc.pause.duration"].Points[0]; p.Count == 0 || p.Sum <= 0 {
		t.Errorf("pauses: %+v", p)
	}
	if runtime.GOOS == "linux" {
		if d := after[files].Points[0].Value - before[files].Points[0].Value; d < more-10 || d > more+10 { // what else runs here opens and closes some
			t.Errorf("%v descriptors more for %d files", d, more)
		}
	}
}

func BenchmarkRuntimeMetrics(b *testing.B) {
	var r runtimeReader
	b.ReportAllocs()
	for b.Loop() {
		r.metrics(time.Time{})
	}
}
