package telemetry

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"magicode/telemetry/capture"
	"magicode/telemetry/config"
	"magicode/telemetry/otlp"
)

// core is what a handle leads to until telemetry is known to be off. While it
// is dormant it counts, and keeps the spans that began; decide makes it report.
type core struct {
	environ []string
	began   time.Time // of the process; every time in a capture is counted from it
	// openCapture is a field because a test has a disk that does not answer.
	openCapture func(capture.Options) (captureFiles, error)
	starting    atomic.Bool
	hot         *hotInstruments
	slow        slowInstruments
	losses      losses
	requests    atomic.Int64
	approvals   atomic.Int64
	queued      atomic.Int64 // questions that wait behind the open one
	runs        atomic.Int64
	spans       atomic.Int64 // of the current run
	appends     atomic.Int64 // of the current run
	decided     atomic.Pointer[decision]
	child       atomic.Pointer[openSpan]
	cleaned     atomic.Pointer[openSpan]  // the run that was under way when the cleanup began
	deadline    atomic.Pointer[time.Time] // of the wait for the cleanup; nil before it

	mu    sync.Mutex
	early []*openSpan // begun before the decision

	openMu sync.Mutex
	newest *openSpan // the open spans
	open   int
	active int // of those, the ones that heartbeats are for
}

// decision is everything that exists only while a sink is asked for.
type decision struct {
	config  config.Config
	id      Identity
	tracer  tracer
	hi      chan item
	lo      chan *openSpan // ended, for the capture
	wake    chan struct{}  // lo is worth a look; one signal is enough
	idle    atomic.Bool    // the journal has seen lo empty, and waits
	otlp    *otlp.Exporter // nil when nothing is exported
	salt    atomic.Pointer[[]byte]
	hashes  hashes
	hurry   atomic.Bool // the cleanup has begun
	stopped chan struct{}
}

func newCore(environ []string, began time.Time) *core {
	return &core{environ: environ, began: began, openCapture: openCapture, hot: newHotInstruments()}
}

// now is the time. Only the monotonic clock is read: half of what time.Now takes,
// and spans ask often.
func (c *core) now() time.Time { return c.began.Add(time.Since(c.began)) }

// clock is a time as captures have it: counted from the process's start on the
// monotonic clock, so that a clock that is set does not mix up what came first.
func (c *core) clock(t time.Time) time.Time { return c.began.Add(t.Sub(c.began)) }

// Bounds (telemetry.md 4.4) and the length of the early list.
const (
	maxEarly      = 64
	maxRunSpans   = 20_000
	maxRunAppends = 2_000
)

// begin opens a span; nil where a bound has been reached.
func (c *core) begin(k Kind, parent *openSpan, now time.Time) *openSpan {
	if k > SpanRequest && k < SpanCleanup && k != SpanRun && c.spans.Add(1) > maxRunSpans {
		c.dropSpan()
		return nil
	}
	o := &openSpan{core: c, kind: k, start: now, parent: parent}
	switch {
	case k == SpanChild:
		o.start = c.began
		c.child.Store(o)
	case k == SpanRequest:
		o.set(intOf(KeyRequestSeq, c.requests.Add(1)))
	case k == SpanRun:
		o.set(intOf(KeyRunSeq, c.runs.Add(1)))
		o.deltas = c.hot.deltaCounts()
		c.spans.Store(0)
		c.appends.Store(0)
	case shortWait(k), k == SpanSessionAppend && c.appends.Add(1) > maxRunAppends:
		o.held = true
	case k == SpanCleanup:
		for _, run := range c.openSpans() {
			if run.kind == SpanRun {
				c.cleaned.Store(run)
			}
		}
	case k == SpanApprovalWait:
		o.set(intOf(KeyApprovalSeq, c.approvals.Add(1)))
	}
	d := c.decided.Load()
	if d == nil {
		if d = c.remember(o); d == nil {
			return o
		}
	}
	c.enter(o)
	if !o.held {
		o.report()
	}
	d.news()
	return o
}

// report gives the span its identity, unless that is done or too late.
func (o *openSpan) report() {
	id, above := o.identify()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.id.valid() && !o.ended {
		o.id, o.above = id, above
	}
}

// remember keeps a span that begins before the decision. It returns the
// decision if that has been made meanwhile.
func (c *core) remember(o *openSpan) *decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.decided.Load(); d != nil {
		return d
	}
	if len(c.early) < maxEarly {
		c.early = append(c.early, o)
		c.enter(o)
	} else {
		c.dropSpan()
	}
	return nil
}

// decide starts what reports, and hands it what has begun before.
func (c *core) decide(cfg config.Config, id Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &decision{config: cfg, id: id, hi: make(chan item, hiQueue), lo: make(chan *openSpan, loQueue), wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	d.otlp = newExporter(c, d)
	c.slow.linked.Store(d.otlp != nil)
	d.tracer = newTracer(c, d)
	var ended []*openSpan
	for _, o := range c.early {
		if shortWait(o.kind) {
			continue
		}
		id, above := o.identify()
		o.mu.Lock()
		o.id, o.above = id, above
		if o.ended {
			ended = append(ended, o)
		}
		o.mu.Unlock()
	}
	c.early = nil
	c.decided.Store(d)
	for _, o := range ended {
		o.export(false)
	}
	go newJournal(c, d).run()
}

// decision is what was decided. A span that has its identity may end before
// everything else has one: then it waits for what decides.
func (c *core) decision() *decision {
	d := c.decided.Load()
	if d == nil {
		c.mu.Lock()
		d = c.decided.Load()
		c.mu.Unlock()
	}
	return d
}

// late reports a span that was kept back, as export does.
func (c *core) late(o *openSpan, counts bool) bool {
	if c.decided.Load() == nil {
		return false
	}
	id, above := o.identify()
	o.mu.Lock()
	o.id, o.above = id, above
	o.mu.Unlock()
	return o.export(counts)
}

// enter puts a span into the registry of open ones.
func (c *core) enter(o *openSpan) {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	o.next = c.newest
	if c.newest != nil {
		c.newest.prev = o
	}
	c.newest = o
	c.open++
	if beats(o.kind) {
		c.active++
	}
}

// leave takes it out. A span that was never in changes nothing.
func (c *core) leave(o *openSpan) {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	if o.prev == nil && o.next == nil && c.newest != o {
		return
	}
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		c.newest = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
	c.open--
	if beats(o.kind) {
		c.active--
	}
}

// beats reports the kinds during which there are heartbeats (telemetry.md 5.2).
func beats(k Kind) bool {
	return k == SpanStartup || k == SpanSessionWork || k == SpanRun || k == SpanCleanup
}

// openSpans lists the open spans, newest first.
func (c *core) openSpans() []*openSpan { return c.appendOpen(nil) }

func (c *core) appendOpen(dst []*openSpan) []*openSpan {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	dst = slices.Grow(dst, c.open)
	for o := c.newest; o != nil; o = o.next {
		dst = append(dst, o)
	}
	return dst
}

func (c *core) busy() bool {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	return c.active > 0
}

// cut ends what is open. What the cleanup was waiting for is the newest part of
// it that has a phase.
func (c *core) cut(now time.Time) {
	open := c.openSpans()
	for _, o := range open {
		if phase := cleanupPhase(o); phase != 0 {
			c.slow.count(metricDetached, labels{}.with(KeyCleanupPhase, phase))
			break
		}
	}
	for _, o := range open {
		if o.kind != SpanChild {
			o.finish(now, true)
		}
	}
}
