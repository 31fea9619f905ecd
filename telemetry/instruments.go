package telemetry

import (
	"sync/atomic"
	"time"

	"magicode/telemetry/point"
)

// hotInstruments are the instruments of the frame path: arrays of atomics, no
// attribute sets (telemetry.md 6.1, "F"). They count from the first byte on, in
// memory only; when telemetry turns out to be off they are let go.
type hotInstruments struct {
	framesIn     [2]atomic.Uint64 // request, invalid
	framesOut    [frameKindCount]atomic.Uint64
	sizeIn       histogram
	sizeOut      histogram
	parse        [2]histogram
	pending      gauge
	oldest       gauge // age of a frame when it was written
	margin       histogram
	nearMisses   atomic.Uint64
	writeSize    histogram
	writeBlocked atomic.Uint64
	worker       gauge
	workerWait   histogram
	deltas       [deltaCount]atomic.Uint64
}

// What becomes of a delta.
const (
	deltaQueued = iota
	deltaMerged
	deltaDropped
	deltaCount
)

func newHotInstruments() *hotInstruments {
	h := new(hotInstruments)
	h.sizeIn.bounds, h.sizeOut.bounds = frameSizes[:], frameSizes[:]
	h.parse[0].bounds, h.parse[1].bounds = parseTimes[:], parseTimes[:]
	h.margin.bounds = margins[:]
	h.writeSize.bounds = writeSizes[:]
	h.workerWait.bounds = workerWaits[:]
	return h
}

// Boundaries of telemetry.md 6.2, in bytes or nanoseconds.
const ms = int64(time.Millisecond)

var (
	frameSizes  = [...]int64{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	parseTimes  = [...]int64{5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 1e7}
	margins     = [...]int64{0, 50 * ms, 100 * ms, 250 * ms, 500 * ms, 750 * ms, 1000 * ms, 1250 * ms, 1500 * ms, 1750 * ms, 1900 * ms, 1950 * ms, 1990 * ms, 2000 * ms}
	writeSizes  = [...]int64{64, 512, 4096, 16384, 65536}
	workerWaits = [...]int64{1e5, 1e6, 1e7, 50 * ms, 100 * ms, 250 * ms, 500 * ms, 1000 * ms, 1500 * ms, 2000 * ms}
)

// maxBounds is the longest list of boundaries.
const maxBounds = 15

// histogram counts integers. It needs no lock; a snapshot taken meanwhile may
// have a value in its sum that is not in its buckets yet.
type histogram struct {
	bounds  []int64
	sum     atomic.Int64
	buckets [maxBounds + 1]atomic.Uint64
}

func (h *histogram) observe(v int64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(v)
}

// gauge is a value and its greatest since the last collection.
type gauge struct{ now, peak atomic.Int64 }

func (g *gauge) set(v int64) {
	g.now.Store(v)
	for {
		old := g.peak.Load()
		if v <= old || g.peak.CompareAndSwap(old, v) {
			return
		}
	}
}

// take returns the peak and begins anew with what is now.
func (g *gauge) take() int64 { return max(g.peak.Swap(g.now.Load()), g.now.Load()) }

func (h *histogram) point(scale float64, kv ...point.Label) point.Point {
	p := point.Point{Labels: kv, Buckets: make([]uint64, len(h.bounds)+1), Sum: float64(h.sum.Load()) * scale}
	for i := range p.Buckets {
		p.Buckets[i] = h.buckets[i].Load()
		p.Count += p.Buckets[i]
	}
	return p
}

func scaled(bounds []int64, scale float64) []float64 {
	out := make([]float64, len(bounds))
	for i, b := range bounds {
		out[i] = float64(b) * scale
		if scale != 1 {
			out[i] = float64(b) / 1e9
		}
	}
	return out
}

const perSecond = 1e-9

// reader is one sink's view of the peaks: each sink sees its own maximum since
// its own last collection.
type peaks struct{ pending, oldest, worker int64 }

// raise moves the hot peaks to every reader.
func (h *hotInstruments) raise(readers ...*peaks) {
	p, o, w := h.pending.take(), h.oldest.take(), h.worker.take()
	for _, r := range readers {
		r.pending, r.oldest, r.worker = max(r.pending, p), max(r.oldest, o), max(r.worker, w)
	}
}

func (h *hotInstruments) metrics(p *peaks) []point.Metric {
	counter := func(name, unit string, points ...point.Point) point.Metric {
		return point.Metric{Name: name, Unit: unit, Type: point.Counter, Points: points}
	}
	value := func(v float64, kv ...point.Label) point.Point { return point.Point{Value: v, Labels: kv} }
	gaugeOf := func(name, unit string, v float64) point.Metric {
		return point.Metric{Name: name, Unit: unit, Type: point.Gauge, Points: []point.Point{value(v)}}
	}
	hist := func(name, unit string, scale float64, bounds []int64, points ...point.Point) point.Metric {
		return point.Metric{Name: name, Unit: unit, Type: point.Histogram, Bounds: scaled(bounds, scale), Points: points}
	}
	return []point.Metric{
		counter("magi.frames", "{frame}", h.frames()...),
		hist("magi.frame.size", "By", 1, frameSizes[:], h.sizeIn.point(1, directionIn), h.sizeOut.point(1, directionOut)),
		hist("magi.frame.parse.duration", "s", perSecond, parseTimes[:], h.parse[0].point(perSecond, frameTypeRequest), h.parse[1].point(perSecond, frameTypeInvalid)),
		gaugeOf("magi.output.pending", "{frame}", float64(h.pending.now.Load())),
		gaugeOf("magi.output.pending.peak", "{frame}", float64(p.pending)),
		gaugeOf("magi.output.oldest_age", "s", float64(h.oldest.now.Load())*perSecond),
		gaugeOf("magi.output.oldest_age.peak", "s", float64(p.oldest)*perSecond),
		hist("magi.output.deadline.margin", "s", perSecond, margins[:], h.margin.point(perSecond)),
		counter("magi.output.near_misses", "{frame}", value(float64(h.nearMisses.Load()))),
		hist("magi.output.write.size", "By", 1, writeSizes[:], h.writeSize.point(1)),
		counter("magi.output.write.blocked", "{write}", value(float64(h.writeBlocked.Load()))),
		gaugeOf("magi.worker.pending", "{event}", float64(h.worker.now.Load())),
		gaugeOf("magi.worker.pending.peak", "{event}", float64(p.worker)),
		hist("magi.worker.wait.duration", "s", perSecond, workerWaits[:], h.workerWait.point(perSecond)),
		counter("magi.deltas", "{delta}", value(float64(h.deltas[deltaQueued].Load()), point.Label{Key: keyDeltaOutcome, Value: "queued"}),
			value(float64(h.deltas[deltaMerged].Load()), point.Label{Key: keyDeltaOutcome, Value: "merged"}),
			value(float64(h.deltas[deltaDropped].Load()), point.Label{Key: keyDeltaOutcome, Value: "dropped"})),
	}
}

// frames are the points of magi.frames; events that never were are left out.
func (h *hotInstruments) frames() []point.Point {
	points := []point.Point{
		{Labels: []point.Label{directionIn, frameTypeRequest}, Value: float64(h.framesIn[0].Load())},
		{Labels: []point.Label{directionIn, frameTypeInvalid}, Value: float64(h.framesIn[1].Load())},
		{Labels: []point.Label{directionOut, frameTypeResponse}, Value: float64(h.framesOut[FrameResponse].Load())},
	}
	for k := FrameInputPersisted; k < frameKindCount; k++ {
		if n := h.framesOut[k].Load(); n > 0 {
			points = append(points, point.Point{Value: float64(n),
				Labels: []point.Label{directionOut, frameTypeEvent, {Key: keyEvent, Value: frameEvents[k]}}})
		}
	}
	return points
}

// deltaCounts are those that were taken and those that were dropped.
func (h *hotInstruments) deltaCounts() [2]uint64 {
	return [2]uint64{h.deltas[deltaQueued].Load() + h.deltas[deltaMerged].Load(), h.deltas[deltaDropped].Load()}
}

func (h *hotInstruments) totals() (in, out uint64) {
	for i := range h.framesIn {
		in += h.framesIn[i].Load()
	}
	for i := range h.framesOut {
		out += h.framesOut[i].Load()
	}
	return in, out
}
