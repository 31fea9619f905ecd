package telemetry

import (
	"runtime/metrics"
	"time"

	"magicode/telemetry/point"
)

// runtimeMetrics reads the runtime once (telemetry.md 6.9).
func runtimeMetrics(began time.Time) []point.Metric {
	table := []struct {
		source, name, unit string
		t                  point.Type
	}{
		{"/memory/classes/total:bytes", "go.memory.used", "By", point.Gauge},
		{"/gc/heap/allocs:bytes", "go.memory.allocated", "By", point.Counter},
		{"/gc/heap/allocs:objects", "go.memory.allocations", "{allocation}", point.Counter},
		{"/gc/heap/goal:bytes", "go.memory.gc.goal", "By", point.Gauge},
		{"/gc/cycles/total:gc-cycles", "go.memory.gc.cycles", "{gc_cycle}", point.Counter},
		{"/sched/goroutines:goroutines", "go.goroutine.count", "{goroutine}", point.Gauge},
		{"/sched/gomaxprocs:threads", "go.processor.limit", "{thread}", point.Gauge},
	}
	samples := make([]metrics.Sample, len(table))
	for i := range table {
		samples[i].Name = table[i].source
	}
	metrics.Read(samples)
	out := make([]point.Metric, 0, len(table)+1)
	for i, row := range table {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			out = append(out, point.Metric{Name: row.name, Unit: row.unit, Type: row.t,
				Points: []point.Point{{Value: float64(samples[i].Value.Uint64())}}})
		}
	}
	return append(out, point.Metric{Name: "process.uptime", Unit: "s", Type: point.Gauge,
		Points: []point.Point{{Value: time.Since(began).Seconds()}}})
}
