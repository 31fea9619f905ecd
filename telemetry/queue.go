package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"magicode/telemetry/otlpjson"
)

// item is one thing for the journal. Exactly one field is set.
type item struct {
	ended   sdktrace.ReadOnlySpan
	opened  *openSpan
	record  *otlpjson.Log
	snap    bool
	barrier *barrier
}

// barrier is the last item: what is queued before it is written, then all ends.
type barrier struct {
	exit exitState
	done chan struct{}
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
		c.drop(dropQueue)
	}
}

// announce queues the start record of a span, or the look at it after 250 ms.
func (d *decision) announce(o *openSpan) {
	d.put(o.core, item{opened: o}, o.kind >= SpanCleanup || o.kind == SpanChild)
}

// progress records what happened inside a span that has not ended.
func (c *core) progress(o *openSpan, e EventName, at time.Time) {
	d := c.decided.Load()
	if d == nil {
		return
	}
	o.mu.Lock()
	span := o.span
	o.mu.Unlock()
	if span == nil {
		return
	}
	d.put(c, item{record: &otlpjson.Log{Time: c.clock(at), Name: recordEvent, Span: span.SpanContext(),
		Attributes: []attribute.KeyValue{attribute.String(keySpanName, kinds[o.kind].name), attribute.String(keyEventName, eventNames[e])}}}, false)
}

func (c *core) urgent() {
	if d := c.decided.Load(); d != nil {
		d.hurry.Store(true)
	}
}

func (c *core) snapshot(time.Time) {
	if d := c.decided.Load(); d != nil {
		d.put(c, item{snap: true}, true)
	}
}

// exit queues the barrier and waits for it.
func (c *core) exit(e exitState, wait time.Duration) {
	d := c.decided.Load()
	if d == nil {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	b := &barrier{exit: e, done: make(chan struct{})}
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
