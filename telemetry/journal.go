package telemetry

import (
	"runtime"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/capture"
	"magicode/telemetry/otlpjson"
	"magicode/telemetry/point"
)

// journal is the telemetry goroutine: it owns every file. Nothing that it does
// is waited for, but for the barrier at the exit.
type journal struct {
	core     *core
	d        *decision
	encoder  *otlpjson.Encoder
	file     fileSink
	prom     promSink
	otlp     otlpSink
	status   statusFile
	recorder recorder

	traces, logs batch
	opened       []*openSpan // while it looks at what is open
	ended        writtenSpan // while it is written down

	lookAt, beatAt, countAt, promAt time.Time
	// What the metrics file had last, and when.
	counted   []point.Metric
	countedAt time.Time
	written   int64 // bytes of the capture
	scratch   []attribute.KeyValue
	runtime   runtimeReader
}

// batch is lines that are not written yet.
type batch struct {
	lines []byte
	last  int    // where the last line begins
	count uint64 // spans, records or, of metrics, lines
}

// empty keeps the room, unless it is more than usual.
func (b *batch) empty() {
	if cap(b.lines) > 2*maxBatch {
		b.lines = nil
	}
	b.lines, b.last, b.count = b.lines[:0], 0, 0
}

// Intervals (telemetry.md 5.2, 8.4).
const (
	lateAfter   = 250 * time.Millisecond
	lookAfter   = 100 * time.Millisecond // what is not urgent is in the file after that
	beatEvery   = 5 * time.Second
	beatCleanup = 100 * time.Millisecond
	maxBatch    = 64 << 10 // bytes of one write, and one span or record
)

func newJournal(c *core, d *decision) *journal {
	return &journal{core: c, d: d, countedAt: c.began}
}

// run is the goroutine. It ends with the barrier.
func (j *journal) run() {
	defer close(j.d.stopped)
	j.open()
	timer := time.NewTimer(0)
	defer timer.Stop()
	j.notice(time.Now()) // nobody was woken while the files were opened
	for {
		timer.Reset(j.sleep(time.Now()))
		select {
		case it := <-j.d.hi:
			if it.barrier != nil {
				j.finish(it.barrier)
				return
			}
			j.take(it)
		case <-j.d.wake:
			j.notice(time.Now())
		case <-j.otlp.changed():
			j.exportChanged()
		case <-timer.C:
		}
		j.due(time.Now())
	}
}

// notice sets the time of the next look, and of the next count where there was
// none: something happens again.
func (j *journal) notice(now time.Time) {
	at := now.Add(lookAfter)
	if j.d.hurry.Load() || len(j.d.lo) >= loSoon {
		at = now
	}
	if j.lookAt.IsZero() || at.Before(j.lookAt) {
		j.lookAt = at
	}
	if j.countAt.IsZero() {
		j.countAt = now.Add(j.d.config.MetricsInterval)
	}
}

// look takes what is in lo, as long as there is nothing more urgent, and tells of
// what is open. While it finds something it comes back by itself, so that
// nobody has to wake it; after a look in vain it waits for a signal.
func (j *journal) look(now time.Time) {
	j.d.idle.Store(true) // first: who is too late for this look gives a signal
	found := j.drain(func() bool { return len(j.d.hi) == 0 })
	told, again := j.tell(now)
	j.lookAt = again
	if (found || told || len(j.d.lo) > 0) && j.d.idle.CompareAndSwap(true, false) {
		j.notice(now)
	}
}

// drain takes what is in lo as long as more says so, and reports whether there was
// anything.
func (j *journal) drain(more func() bool) (found bool) {
	for more() {
		select {
		case o := <-j.d.lo:
			found = true
			j.span(o)
		default:
			return found
		}
	}
	return found
}

// open opens what was asked for.
func (j *journal) open() {
	j.encoder = otlpjson.New(resourceAttributes(j.d.id), scopeName, j.d.id.Version, allowed)
	j.ended.tracer, j.ended.fragments.encoder = &j.d.tracer, j.encoder
	j.loadSalt()
	j.file.open(j.core, j.d)
	j.prom.open(j.core, j.d)
	j.status.open(j.core, j.d)
	now := time.Now()
	j.otlp.open(j.core, j.d, now)
	j.countAt, j.promAt = now.Add(j.d.config.MetricsInterval), now
	j.report()
	j.arm()
}

// loadSalt reads the home's salt; without one, names are left out.
func (j *journal) loadSalt() {
	if j.d.id.StateDir == "" {
		return
	}
	salt, ok := homeSalt(j.d.id.StateDir)
	if !ok {
		j.core.losses.problem(sinkFile, "salt_unavailable")
		return
	}
	j.d.salt.Store(&salt)
}

// sleep is how long there is nothing to do but wait.
func (j *journal) sleep(now time.Time) time.Duration {
	next := now.Add(time.Hour)
	for _, at := range [...]time.Time{j.lookAt, j.beatAt, j.countAt} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	if j.prom.on() && j.promAt.Before(next) {
		next = j.promAt
	}
	if j.otlp.on() && j.otlp.at.Before(next) {
		next = j.otlp.at
	}
	return max(next.Sub(now), 0)
}

// take handles one item.
func (j *journal) take(it item) {
	switch {
	case it.ended != nil:
		j.span(it.ended)
	case it.snap:
		j.snap()
	case it.measure:
		j.exportMetrics(time.Now())
	}
}

// span counts an ended span and adds it to its batch.
func (j *journal) span(o *openSpan) {
	if o.counts {
		j.core.slow.countSpan(o)
	}
	if !j.file.on() {
		return
	}
	j.ended.o = o
	b, ok := &j.traces, false
	if b.lines, b.last, ok = j.encoder.AppendSpan(b.lines, b.last, &j.ended); !ok {
		j.core.losses.drop(sinkFile, signalSpan, dropCap, 1)
		return
	}
	b.count++
	if len(b.lines) >= maxBatch {
		j.flush()
	}
}

// log adds a record to its batch. One that is too long is taken back.
func (j *journal) log(l otlpjson.Log) {
	if !j.file.on() {
		return
	}
	b := &j.logs
	grown := j.encoder.AppendLog(b.lines, l)
	if len(grown)-len(b.lines) > otlpjson.MaxDump {
		j.core.losses.drop(sinkFile, signalLog, dropCap, 1)
		return
	}
	b.lines = grown
	b.count++
	if len(b.lines) >= maxBatch {
		j.flush()
	}
}

func (j *journal) beat(o *openSpan) {
	if beats(o.kind) && j.beatAt.IsZero() {
		j.beatAt = time.Now().Add(j.beatInterval())
	}
}

func (j *journal) beatInterval() time.Duration {
	if j.d.hurry.Load() {
		return beatCleanup
	}
	return beatEvery
}

// due does what its time has come for.
func (j *journal) due(now time.Time) {
	j.arm()
	if !j.lookAt.IsZero() && (!now.Before(j.lookAt) || j.d.hurry.Load()) {
		j.look(now)
	}
	if !j.beatAt.IsZero() && !now.Before(j.beatAt) {
		j.heartbeat(now)
	}
	j.flush()
	if !j.countAt.IsZero() && !now.Before(j.countAt) {
		j.countAt = time.Time{}
		if j.file.on() && (j.writeMetrics(now) || j.core.busy() || !j.d.idle.Load()) { // or else it waits until something happens
			j.countAt = now.Add(j.d.config.MetricsInterval)
		}
	}
	if j.prom.on() && !now.Before(j.promAt) {
		j.promAt = now.Add(j.d.config.Prometheus.Interval)
		j.writeProm(true)
	}
	if j.otlp.on() && !now.Before(j.otlp.at) {
		j.otlp.at = now.Add(max(slowestExport, j.d.config.MetricsInterval))
		j.exportMetrics(now)
	}
}

// heartbeat says that the child lives; the last one bounds the time of a death.
func (j *journal) heartbeat(now time.Time) {
	j.beatAt = time.Time{}
	if !j.core.busy() {
		return
	}
	j.beatAt = now.Add(j.beatInterval())
	open := j.core.openSpans()
	oldest := time.Duration(0)
	for _, o := range open {
		if o.kind != SpanChild {
			oldest = max(oldest, now.Sub(o.start))
		}
	}
	hot := j.core.hot
	j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordHeartbeat, Attributes: []attribute.KeyValue{
		attribute.Int(keyOpen, len(open)), attribute.Int64(keyOldest, oldest.Milliseconds()),
		attribute.Int64(intKeys[KeyOutputPending], hot.pending.now.Load()),
		attribute.Int64(keyOutputOldest, hot.oldest.now.Load()/ms),
		attribute.Int64(keyWorkerPending, hot.worker.now.Load()),
		attribute.Int(keyGoroutines, runtime.NumGoroutine()),
		attribute.Int64(keyDropped, int64(j.core.losses.dropped(sinkFile))),
	}})
}

// flush writes the lines that have come together.
func (j *journal) flush() {
	j.file.write(j, capture.Logs, &j.logs)
	j.file.write(j, capture.Traces, &j.traces)
}

// finish writes everything that is left and closes.
func (j *journal) finish(b *barrier) {
	for {
		select {
		case it := <-j.d.hi:
			j.take(it)
			continue
		case o := <-j.d.lo:
			j.span(o)
			continue
		default:
		}
		break
	}
	now := time.Now()
	j.tell(now)
	if j.otlp.on() {
		j.otlp.exporter.Close(b.export, j.groups(now))
	}
	j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordExit, Attributes: []attribute.KeyValue{
		attribute.Int(intKeys[KeyExitCode], b.exit.code), attribute.String(enumKeys[KeyExitReason], b.exit.reason.text()),
		attribute.Bool(boolKeys[KeyDetached], b.exit.detached),
	}})
	j.flush()
	if j.file.on() {
		j.writeMetrics(now)
	}
	if j.prom.on() {
		j.writeProm(false)
	}
	j.written = j.file.size()
	j.file.close()
	j.prom.close()
	if j.otlp.on() {
		j.status.exit(j, "closing", b.exit)
		j.finishExport(b.export)
	}
	j.status.exit(j, "closed", b.exit)
	j.status.close()
	close(b.done)
	j.recorder.stop()
}
