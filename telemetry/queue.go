package telemetry

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"magicode/telemetry/otlpjson"
)

// item is one thing for the journal. Exactly one field is set, but for a record.
type item struct {
	ended   sdktrace.ReadOnlySpan
	opened  *openSpan
	record  *otlpjson.Log
	of      *openSpan // whom a record is about
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
)

func (d *decision) put(c *core, it item, hi bool) {
	queue := d.lo
	if hi {
		queue = d.hi
	}
	select {
	case queue <- it:
	default:
		signal := signalLog
		if it.ended != nil {
			signal = signalSpan
		}
		c.losses.drop(sinkFile, signal, dropQueue, 1)
	}
	if !hi {
		d.nudge()
	}
}

// nudge wakes the journal if that has to be: because it sleeps without a time to
// look at lo again, because lo fills up, or because everything is urgent. To wake
// it for each item took several times as long as the item itself.
func (d *decision) nudge() {
	if !d.hurry.Load() && len(d.lo) < loQueue/2 && (!d.idle.Load() || !d.idle.CompareAndSwap(true, false)) {
		return
	}
	select {
	case d.wake <- struct{}{}:
	default: // it is on its way
	}
}

// announce queues the start record of a span, or the look at it after 250 ms.
func (d *decision) announce(o *openSpan) {
	d.put(o.core, item{opened: o}, o.urgent())
}

// urgent reports the kinds whose records go ahead of the rest.
func (o *openSpan) urgent() bool { return o.kind >= SpanCleanup || o.kind == SpanChild }

// over reports that a record of how far the span is says nothing any more: it has
// ended, and its end stands in the same write. What is urgent is told all the same.
func (o *openSpan) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended && !o.urgent()
}

// progress records what happened inside a span that has not ended, with what is
// known of it by then: an event, or "" where it has only come further.
func (c *core) progress(o *openSpan, event string, at time.Time) {
	d := c.decided.Load()
	if d == nil {
		return
	}
	o.mu.Lock()
	sc, attrs := o.sc, slices.Clone(o.attrs)
	attrs = append(attrs, attribute.String(keySpanName, o.name()))
	live := !o.ended
	o.mu.Unlock()
	if !sc.IsValid() || !live {
		return
	}
	if event != "" {
		attrs = append(attrs, attribute.String(keyEventName, event))
	}
	d.put(c, item{record: &otlpjson.Log{Time: c.clock(at), Name: recordEvent, Span: sc, Attributes: attrs}, of: o}, o.urgent())
}

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
		d.put(c, item{measure: true}, true)
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
	d.put(c, item{snap: true}, true)
	if o := c.begin(SpanCleanupSnapshot, above, now); o != nil {
		o.mu.Lock()
		o.set(attribute.Int(keyOpen, len(open)))
		o.set(attribute.StringSlice(keyOpenNames, names))
		o.set(attribute.Int64Slice(keyOpenAges, ages))
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
