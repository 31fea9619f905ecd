package telemetry

import (
	"runtime"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/capture"
	"magicode/telemetry/dump"
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

	buffers [2][]byte   // lines of traces and logs that are not written yet
	watched []*openSpan // begun, and without a start record so far

	lookAt, flushAt, beatAt, countAt, promAt time.Time
	// What the metrics file had last, and when.
	counted   []point.Metric
	countedAt time.Time
	written   int64 // bytes of the capture
	scratch   []attribute.KeyValue
	runtime   runtimeReader
}

// Intervals (telemetry.md 5.2, 8.4).
const (
	lateAfter    = 250 * time.Millisecond
	lookAfter    = 100 * time.Millisecond // with flushAfter 200 ms, the bound for a record that is not urgent
	flushAfter   = 100 * time.Millisecond
	beatEvery    = 5 * time.Second
	beatCleanup  = 100 * time.Millisecond
	peakEvery    = time.Second
	maxBatch     = 64 << 10
	maxPerWakeup = 256
)

const (
	bufferTraces = iota
	bufferLogs
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
	j.d.idle.Store(true)
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

// notice sets the time of the next look at lo.
func (j *journal) notice(now time.Time) {
	switch {
	case j.d.hurry.Load() || len(j.d.lo) >= loQueue/2:
		j.lookAt = now
	case j.lookAt.IsZero():
		j.lookAt = now.Add(lookAfter)
	}
}

// look takes what is in lo, as long as there is nothing more urgent.
func (j *journal) look() {
	for len(j.d.hi) == 0 {
		select {
		case it := <-j.d.lo:
			j.take(it)
			continue
		default:
		}
		j.lookAt = time.Time{}
		j.d.idle.Store(true)
		select {
		case it := <-j.d.lo: // put before idle was set: nobody will signal it
			j.d.idle.Store(false)
			j.take(it)
		default:
			return
		}
	}
}

// open opens what was asked for.
func (j *journal) open() {
	j.encoder = otlpjson.New(resourceAttributes(j.d.id), scopeName, j.d.id.Version, allowed)
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
	for _, at := range []time.Time{j.lookAt, j.flushAt, j.beatAt} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	if j.file.on() && j.countAt.Before(next) {
		next = j.countAt
	}
	if j.prom.on() && j.promAt.Before(next) {
		next = j.promAt
	}
	if j.otlp.on() && j.otlp.at.Before(next) {
		next = j.otlp.at
	}
	if len(j.watched) > 0 {
		if at := j.watched[0].start.Add(lateAfter); at.Before(next) {
			next = at
		}
	}
	return max(next.Sub(now), 0)
}

// take handles one item.
func (j *journal) take(it item) {
	switch {
	case it.ended != nil:
		j.add(bufferTraces, j.encoder.AppendSpan(j.buffers[bufferTraces], it.ended))
	case it.record != nil && it.of.over():
	case it.record != nil:
		j.log(*it.record)
	case it.opened != nil && kinds[it.opened.kind].now && !it.opened.held:
		j.started(it.opened, false)
	case it.opened != nil:
		j.watched = append(j.watched, it.opened)
	case it.snap:
		j.snap()
	case it.measure:
		j.exportMetrics(time.Now())
	}
}

// add takes a buffer that has grown by whole lines. A line that is too long is
// taken back.
func (j *journal) add(which int, grown []byte) {
	limit, signal := otlpjson.MaxLine, signalSpan
	if which == bufferLogs {
		limit, signal = otlpjson.MaxDump, signalLog
	}
	if len(grown)-len(j.buffers[which]) > limit || !j.file.on() {
		if j.file.on() {
			j.core.losses.drop(sinkFile, signal, dropCap, 1)
		}
		return
	}
	j.buffers[which] = grown
	if j.flushAt.IsZero() {
		j.flushAt = time.Now().Add(flushAfter)
	}
	if j.d.hurry.Load() || len(grown) >= maxBatch {
		j.flush()
	}
}

func (j *journal) log(l otlpjson.Log) {
	j.add(bufferLogs, j.encoder.AppendLog(j.buffers[bufferLogs], l))
}

// started writes the start record of a span that is open. One that has ended
// already has its end in the same write, and needs none.
func (j *journal) started(o *openSpan, late bool) {
	if late && o.held {
		o.report(j.d) // it has become a span worth the name
	}
	o.mu.Lock()
	j.scratch = append(j.scratch[:0], o.attrs...)
	sc, ended := o.sc, o.ended
	o.mu.Unlock()
	if ended && (late || !o.urgent()) || !sc.IsValid() {
		return
	}
	j.beat(o)
	j.identify(o)
	if late {
		j.scratch = append(j.scratch, attribute.Bool(keySpanLate, true))
	}
	j.log(otlpjson.Log{Time: j.core.clock(o.start), Name: recordStart, Span: sc, Attributes: j.scratch})
}

// identify adds to the scratch what names a span in a record about it.
func (j *journal) identify(o *openSpan) {
	o.mu.Lock()
	name := o.name()
	o.mu.Unlock()
	j.scratch = append(j.scratch, attribute.String(keySpanName, name))
	if above := o.ancestor(); above.IsValid() && !kinds[o.kind].root {
		j.scratch = append(j.scratch, attribute.String(keySpanParent, above.SpanID().String()))
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
		j.look()
	}
	for len(j.watched) > 0 && !now.Before(j.watched[0].start.Add(lateAfter)) {
		o := j.watched[0]
		j.watched = j.watched[1:]
		j.started(o, true)
	}
	if !j.beatAt.IsZero() && !now.Before(j.beatAt) {
		j.heartbeat(now)
	}
	if !j.flushAt.IsZero() && (!now.Before(j.flushAt) || j.d.hurry.Load()) {
		j.flush()
	}
	if j.file.on() && !now.Before(j.countAt) {
		j.countAt = now.Add(j.d.config.MetricsInterval)
		j.writeMetrics(now)
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

// snap writes down how things stand shortly before a detachment.
func (j *journal) snap() {
	now := time.Now()
	for _, o := range j.core.openSpans() {
		o.mu.Lock()
		j.scratch = append(j.scratch[:0], o.attrs...)
		sc := o.sc
		o.mu.Unlock()
		if !sc.IsValid() {
			continue
		}
		j.identify(o)
		j.scratch = append(j.scratch, attribute.Int64(keySpanAge, now.Sub(o.start).Milliseconds()))
		j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordOpen, Span: sc, Attributes: j.scratch})
	}
	if j.d.config.File.Goroutines && j.file.on() {
		j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordGoroutines, Body: dump.Goroutines()})
	}
	j.flush()
	j.writeTrace()
}

// flush writes the lines that have come together.
func (j *journal) flush() {
	j.flushAt = time.Time{}
	j.file.write(j, capture.Logs, j.buffers[bufferLogs])
	j.file.write(j, capture.Traces, j.buffers[bufferTraces])
	for i := range j.buffers {
		if cap(j.buffers[i]) > 4*maxBatch {
			j.buffers[i] = nil
		}
		j.buffers[i] = j.buffers[i][:0]
	}
}

// finish writes everything that is left and closes.
func (j *journal) finish(b *barrier) {
	for {
		select {
		case it := <-j.d.hi:
			j.take(it)
			continue
		case it := <-j.d.lo:
			j.take(it)
			continue
		default:
		}
		break
	}
	now := time.Now()
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
