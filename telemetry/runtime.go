package telemetry

import (
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"magicode/telemetry/point"
)

// runtimeMetric is a row of telemetry.md 6.9.
type runtimeMetric uint8

const (
	runtimeMemoryUsed runtimeMetric = iota
	runtimeAllocated
	runtimeAllocations
	runtimeGoal
	runtimeCycles
	runtimePauses
	runtimeGoroutines
	runtimeProcessors
	runtimeSchedule
	processCPU
	processMemory
	processDescriptors
	processUptime
	runtimeMetricCount
)

// boundsRuntime are the 16 boundaries that the runtime's own histograms, which
// have hundreds, are counted into (telemetry.md 6.9), in seconds.
var boundsRuntime = []float64{1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1}

// runtimeInfos are all of them, whatever this system has.
var runtimeInfos = [runtimeMetricCount]point.Metric{
	runtimeMemoryUsed:  {Name: "go.memory.used", Unit: "By", Type: point.Gauge},
	runtimeAllocated:   {Name: "go.memory.allocated", Unit: "By", Type: point.Counter},
	runtimeAllocations: {Name: "go.memory.allocations", Unit: "{allocation}", Type: point.Counter},
	runtimeGoal:        {Name: "go.memory.gc.goal", Unit: "By", Type: point.Gauge},
	runtimeCycles:      {Name: "go.memory.gc.cycles", Unit: "{gc_cycle}", Type: point.Counter},
	runtimePauses:      {Name: "go.memory.gc.pause.duration", Unit: "s", Type: point.Histogram, Bounds: boundsRuntime},
	runtimeGoroutines:  {Name: "go.goroutine.count", Unit: "{goroutine}", Type: point.Gauge},
	runtimeProcessors:  {Name: "go.processor.limit", Unit: "{thread}", Type: point.Gauge},
	runtimeSchedule:    {Name: "go.schedule.duration", Unit: "s", Type: point.Histogram, Bounds: boundsRuntime},
	processCPU:         {Name: "process.cpu.time", Unit: "s", Type: point.Counter},
	processMemory:      {Name: "process.memory.usage", Unit: "By", Type: point.Gauge},
	processDescriptors: {Name: "process.unix.file_descriptor.count", Unit: "{file_descriptor}", Type: point.Gauge},
	processUptime:      {Name: "process.uptime", Unit: "s", Type: point.Gauge},
}

// What is read of the runtime.
const (
	sampleStacks = iota
	sampleTotal
	sampleReleased
	sampleAllocated
	sampleAllocations
	sampleGoal
	sampleCycles
	samplePauses
	sampleGoroutines
	sampleProcessors
	sampleLatencies
	sampleCount
)

var sampleNames = [sampleCount]string{
	sampleStacks: "/memory/classes/heap/stacks:bytes", sampleTotal: "/memory/classes/total:bytes", sampleReleased: "/memory/classes/heap/released:bytes",
	sampleAllocated: "/gc/heap/allocs:bytes", sampleAllocations: "/gc/heap/allocs:objects", sampleGoal: "/gc/heap/goal:bytes",
	sampleCycles: "/gc/cycles/total:gc-cycles", samplePauses: "/sched/pauses/total/gc:seconds", sampleGoroutines: "/sched/goroutines:goroutines",
	sampleProcessors: "/sched/gomaxprocs:threads", sampleLatencies: "/sched/latencies:seconds",
}

// runtimeReader reads the runtime and the process. The zero value is ready; it
// keeps what the runtime reads into, and is the journal's.
type runtimeReader struct{ samples []metrics.Sample }

// metrics reads the runtime once. What this system does not have is left out.
func (r *runtimeReader) metrics(began time.Time) []point.Metric {
	if r.samples == nil {
		r.samples = make([]metrics.Sample, sampleCount)
		for i, name := range sampleNames {
			r.samples[i].Name = name
		}
	}
	metrics.Read(r.samples)
	out := runtimeInfos
	put := func(m runtimeMetric, v float64, labels ...point.Label) {
		out[m].Points = append(out[m].Points, point.Point{Value: v, Labels: labels})
	}
	stacks := r.number(sampleStacks)
	put(runtimeMemoryUsed, stacks, point.Label{Key: keyMemoryType, Value: memoryStack})
	put(runtimeMemoryUsed, r.number(sampleTotal)-r.number(sampleReleased)-stacks, point.Label{Key: keyMemoryType, Value: memoryOther})
	put(runtimeAllocated, r.number(sampleAllocated))
	put(runtimeAllocations, r.number(sampleAllocations))
	put(runtimeGoal, r.number(sampleGoal))
	put(runtimeCycles, r.number(sampleCycles))
	put(runtimeGoroutines, r.number(sampleGoroutines))
	put(runtimeProcessors, r.number(sampleProcessors))
	out[runtimePauses].Points = r.histogram(samplePauses)
	out[runtimeSchedule].Points = r.histogram(sampleLatencies)
	if user, system, ok := processorTime(); ok {
		put(processCPU, user.Seconds(), point.Label{Key: keyCPUMode, Value: cpuUser})
		put(processCPU, system.Seconds(), point.Label{Key: keyCPUMode, Value: cpuSystem})
	}
	if n, ok := residentBytes(); ok {
		put(processMemory, float64(n))
	}
	if n, ok := descriptors(); ok {
		put(processDescriptors, float64(n))
	}
	put(processUptime, time.Since(began).Seconds())
	return slices.DeleteFunc(out[:], func(m point.Metric) bool { return len(m.Points) == 0 })
}

// number is a sample; 0 where a runtime does not have it.
func (r *runtimeReader) number(i int) float64 {
	if v := r.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return float64(v.Uint64())
	}
	return 0
}

func (r *runtimeReader) histogram(i int) []point.Point {
	v := r.samples[i].Value
	if v.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return []point.Point{rebucket(v.Float64Histogram(), boundsRuntime)}
}

// rebucket counts a histogram of the runtime into fewer buckets: each of its own
// by its upper edge, so that what a bound covers is never less than it says. The
// runtime keeps no sum: this one takes the middle of each bucket.
func rebucket(h *metrics.Float64Histogram, bounds []float64) point.Point {
	p := point.Point{Buckets: make([]uint64, len(bounds)+1)}
	to := 0
	for i, n := range h.Counts {
		low, high := h.Buckets[i], h.Buckets[i+1]
		for to < len(bounds) && high > bounds[to] {
			to++
		}
		if n == 0 {
			continue
		}
		p.Buckets[to] += n
		p.Count += n
		switch {
		case math.IsInf(low, -1):
			low = high
		case math.IsInf(high, 1):
			high = low
		}
		p.Sum += float64(n) * (low + high) / 2
	}
	return p
}
