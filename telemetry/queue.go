package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// item is one thing for the journal that does not wait. Exactly one field is set.
// What is open is no item: the journal looks for itself (tell.go).
type item struct {
	ended   *openSpan
	snap    bool
	measure bool // metrics are wanted now
	barrier *barrier
}

// barrier is the last item: what is queued before it is written, then all ends.
type barrier struct {
	exit   exitState
	export time.Time // when what is exported must be gone
	done   chan struct{}
}

type exitState struct {
	code     int
	reason   Word
	detached bool
}

// Lengths of the queues (telemetry.md 8.4). A full one drops and counts.
const (
	hiQueue = 512
	loQueue = 4096
	// loSoon is how many ended spans are not left waiting for the next look: what
	// waits is memory, and the collector of garbage comes sooner for it.
	loSoon = 128
)

// put queues what does not wait, and reports whether there was room.
func (d *decision) put(c *core, it item) bool {
	select {
	case d.hi <- it:
		return true
	default:
	}
	signal := signalLog
	if it.ended != nil {
		signal = signalSpan
	}
	c.losses.drop(sinkFile, signal, dropQueue, 1)
	return false
}

// putEnded queues a span that has ended, for the capture, and reports whether
// there was room.
func (d *decision) putEnded(o *openSpan) bool {
	if o.urgent() {
		return d.put(o.core, item{ended: o})
	}
	room := true
	select {
	case d.lo <- o:
	default:
		room = false
		o.core.losses.drop(sinkFile, signalSpan, dropQueue, 1)
	}
	d.nudge()
	return room
}

// nudge wakes the journal if that has to be: because it sleeps without a time to
// look again, because enough spans wait, or because everything is urgent. To wake
// it takes several times as long as to write down a span.
func (d *decision) nudge() {
	if !d.hurry.Load() && len(d.lo) < loSoon && (!d.idle.Load() || !d.idle.CompareAndSwap(true, false)) {
		return
	}
	select {
	case d.wake <- struct{}{}:
	default: // it is on its way
	}
}

// news has the journal look at a span that is open: it has begun, or has come
// further. Only a capture tells of spans that have not ended.
func (d *decision) news() {
	if d.config.File.On {
		d.nudge()
	}
}

// urgent reports the kinds whose ends go ahead of the rest.
func (o *openSpan) urgent() bool { return o.kind >= SpanCleanup || o.kind == SpanChild }

func (c *core) urgent() {
	if d := c.decided.Load(); d != nil {
		d.hurry.Store(true)
		d.nudge()
		d.flush(c)
	}
}

// flush has everything exported that there is.
func (d *decision) flush(c *core) {
	if d.otlp != nil {
		d.otlp.Flush()
		d.put(c, item{measure: true})
	}
}

// maxOpenNames bounds the names in a snapshot.
const maxOpenNames = 16

// snapshot queues the records of what is open, and ends a span that says so to
// sinks that know only spans.
func (c *core) snapshot(now time.Time) {
	d := c.decided.Load()
	if d == nil {
		return
	}
	open := c.openSpans()
	var above *openSpan
	var server Word
	var names []string
	var ages []int64
	for _, o := range open {
		if o.kind == SpanCleanup {
			above = o
		}
		if o.kind == SpanCleanupMCPClose && server == 0 {
			server = o.word(KeyMCPServer)
		}
		if len(names) < maxOpenNames {
			o.mu.Lock()
			names = append(names, o.name())
			o.mu.Unlock()
			ages = append(ages, now.Sub(o.start).Milliseconds())
		}
	}
	d.put(c, item{snap: true})
	if o := c.begin(SpanCleanupSnapshot, above, now); o != nil {
		o.mu.Lock()
		o.set(intOf(keyOpenSpans, int64(len(open))))
		o.lists = &[...]attribute.KeyValue{attribute.StringSlice(keyOpenNames, names), attribute.Int64Slice(keyOpenAges, ages)}
		o.mu.Unlock()
		if server != 0 {
			o.str(KeyMCPServer, server)
		}
		o.finish(now, false)
	}
	d.flush(c)
}

// Bounds of the wait at the exit (telemetry.md 5.4).
const (
	lastWait     = 50 * time.Millisecond // for the files
	detachedWait = 10 * time.Millisecond // after a detached cleanup, and beyond its deadline
)

// patience is how long an exit waits for files and endpoint together, and how
// long the endpoint has: neither goes on beyond the deadline of the cleanup.
func (c *core) patience(d *decision, detached bool, now time.Time) (all, export time.Duration) {
	if detached {
		return detachedWait, 0
	}
	all = lastWait
	if d.otlp != nil {
		export = d.config.Shutdown
		all = max(all, export+detachedWait)
	}
	if until := c.deadline.Load(); until != nil {
		left := until.Sub(now)
		all, export = max(detachedWait, min(all, left)), max(0, min(export, left))
	}
	return all, export
}

// exit queues the barrier and waits for it.
func (c *core) exit(e exitState) {
	d := c.decided.Load()
	if d == nil {
		return
	}
	now := time.Now()
	all, export := c.patience(d, e.detached, now)
	timer := time.NewTimer(all)
	defer timer.Stop()
	b := &barrier{exit: e, export: now.Add(export), done: make(chan struct{})}
	select {
	case d.hi <- item{barrier: b}:
	case <-timer.C:
		return
	}
	select {
	case <-b.done:
	case <-timer.C:
	}
}
