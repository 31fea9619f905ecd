package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Span is one open span. The zero value is valid: every method does nothing.
// Its methods may be called from any goroutine; after End they do nothing.
type Span struct{ s *openSpan }

// contextKey is the key under which a context holds its *openSpan.
type contextKey struct{}

// spanContext is a context that carries a span. It is a part of the span, so that
// a span takes one allocation and not two.
type spanContext struct {
	context.Context
	span *openSpan
}

// Value is that of a context.
func (c *spanContext) Value(key any) any {
	if _, ok := key.(contextKey); ok {
		return c.span
	}
	return c.Context.Value(key)
}

// openSpan holds all that is known of a span until it ends, so that one that
// began before telemetry was decided on is no different from others.
type openSpan struct {
	core   *core
	kind   Kind
	start  time.Time
	parent *openSpan
	within spanContext // what Begin returns

	// In the registry of open spans, guarded by the core's openMu.
	prev, next *openSpan

	// What the capture has of it before it ends: the journal's.
	told   bool // that it began
	events int  // how many of happened
	counts bool // set before the journal takes it: the journal counts it

	mu     sync.Mutex
	id     spanID // none before the decision, and for a span that is kept back
	above  spanID // of the span that it is reported below
	held   bool   // kept back: it counts only if it is slow or fails
	ended  bool
	cut    bool
	failed bool
	code   Code
	lasted time.Duration
	deltas [2]uint64 // of the child when a run began
	values []value
	few    [usualValues]value // room for most
	names  []pendingName
	lists  *[2]attribute.KeyValue // of a snapshot

	happened []spanEvent
	further  time.Duration // after how long it came further, if the capture does not say so yet; 0: it does
}

type pendingName struct {
	key  NameKey
	name UserName
}

type spanEvent struct {
	name EventName
	at   time.Time
}

// Bounds of one span (telemetry.md 4.4).
const (
	maxAttributes = 32
	maxEvents     = 16
	usualValues   = 8
	manyValues    = 26
	usualNames    = 3
)

// Begin opens a span below the one that ctx carries. Off, it returns ctx
// unchanged and the zero Span.
func (t Tel) Begin(ctx context.Context, k Kind) (context.Context, Span) {
	c := t.core()
	if c == nil {
		return ctx, Span{}
	}
	parent, _ := ctx.Value(contextKey{}).(*openSpan)
	s := c.begin(k, parent, c.now())
	if s == nil {
		return ctx, Span{}
	}
	s.within = spanContext{ctx, s}
	return &s.within, Span{s}
}

// BeginInChild opens a span below the child's own, for what belongs to no request.
func (t Tel) BeginInChild(k Kind) Span {
	c := t.core()
	if c == nil {
		return Span{}
	}
	return Span{c.begin(k, c.child.Load(), c.now())}
}

// Current is the span that ctx carries.
func Current(ctx context.Context) Span {
	s, _ := ctx.Value(contextKey{}).(*openSpan)
	return Span{s}
}

// On reports whether anything is done with what is set: callers that would have
// to compute a value ask first.
func (s Span) On() bool { return s.s != nil }

// Begin opens a span below s, for callers without a context at hand. Below the
// zero Span there is none.
func (s Span) Begin(k Kind) Span {
	if s.s == nil {
		return Span{}
	}
	return Span{s.s.core.begin(k, s.s, s.s.core.now())}
}

// Into returns a context whose spans open below s.
func (s Span) Into(ctx context.Context) context.Context {
	if s.s == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, s.s)
}

// Int sets a number.
func (s Span) Int(k IntKey, v int64) {
	if s.s == nil || k >= intKeyCount {
		return
	}
	o := s.s
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(intOf(k, v))
}

// Dur sets a duration, in whole milliseconds.
func (s Span) Dur(k IntKey, d time.Duration) {
	if s.s != nil {
		s.Int(k, d.Milliseconds())
	}
}

// Bool sets a yes or no.
func (s Span) Bool(k BoolKey, v bool) {
	if s.s == nil || k >= boolKeyCount {
		return
	}
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	s.s.set(boolOf(k, v))
}

// Str sets a word. One that says how far the span has come is recorded at once,
// so that it is known of a span that never ends (telemetry.md 5.2).
func (s Span) Str(k EnumKey, v Word) {
	if s.s == nil || k == keyNone || k >= enumKeyCount {
		return
	}
	s.s.str(k, v)
	if k == KeyMCPStep || k == KeyMCPPhase || k == KeyAttemptPhase {
		s.s.cameFurther(s.s.core.now())
	}
}

func (o *openSpan) cameFurther(at time.Time) {
	d := o.core.decided.Load()
	if d == nil {
		return
	}
	o.mu.Lock()
	o.further = max(1, at.Sub(o.start))
	o.mu.Unlock()
	d.news()
}

func (o *openSpan) str(k EnumKey, v Word) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(wordOf(k, v))
}

// Name sets a configured name or an id, as the user's setting allows.
func (s Span) Name(k NameKey, n UserName) {
	if s.s == nil || k >= nameKeyCount || n.value == "" {
		return
	}
	o := s.s
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	for i := range o.names {
		if o.names[i].key == k {
			o.names[i].name = n
			return
		}
	}
	if len(o.values)+len(o.names) < maxAttributes {
		if o.names == nil {
			o.names = make([]pendingName, 0, usualNames)
		}
		o.names = append(o.names, pendingName{k, n})
	}
}

// Event notes that something happened now.
func (s Span) Event(e EventName) {
	if s.s == nil || e >= eventNameCount {
		return
	}
	o, at := s.s, s.s.core.now()
	o.mu.Lock()
	ended, full := o.ended, len(o.happened) == maxEvents
	if !ended && !full {
		o.happened = append(o.happened, spanEvent{e, at})
	}
	o.mu.Unlock()
	if ended {
		return
	}
	if full {
		o.core.dropSpan()
		return
	}
	o.core.slow.countEvent(o, e, at)
	if d := o.core.decided.Load(); d != nil {
		d.news()
	}
}

// Fail marks the span with a closed error word.
func (s Span) Fail(c Code) {
	if s.s == nil {
		return
	}
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	if !s.s.ended {
		s.s.failed, s.s.code = true, c
	}
}

// End closes the span; further calls do nothing.
func (s Span) End() {
	if s.s != nil {
		s.s.finish(s.s.core.now(), false)
	}
}

// finish ends the span and counts it.
func (o *openSpan) finish(now time.Time, cut bool) {
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return
	}
	o.ended, o.lasted, o.cut = true, now.Sub(o.start), cut
	reported, held := o.id.valid(), o.held
	o.mu.Unlock()
	o.core.leave(o)
	o.totals()
	counts := (!cut || o.kind >= SpanCleanup) && (!held || o.kind == SpanSessionAppend || o.lasted >= heldFor(o.kind))
	taken := false
	switch {
	case reported:
		taken = o.export(counts)
	case !held:
	case o.failed || o.lasted >= heldFor(o.kind):
		taken = o.core.late(o, counts)
	case o.kind == SpanSessionAppend:
		o.core.dropSpan()
	}
	if counts && !taken {
		o.core.slow.countSpan(o)
	}
}

// ends is when a span ended that has.
func (o *openSpan) ends() time.Time { return o.start.Add(o.lasted) }

// Spans that are kept back: appends beyond the cap, unless they are slow, and
// stalls and waits that were none.
const (
	slowAppend = 100 * time.Millisecond
	realStall  = 20 * time.Millisecond
)

func heldFor(k Kind) time.Duration {
	if shortWait(k) {
		return realStall
	}
	return slowAppend
}

// shortWait reports the kinds that count only once they have lasted.
func shortWait(k Kind) bool { return k == SpanOutputStall || k == SpanEventWait }

// totals are what the instruments know of a child or a run at its end.
func (o *openSpan) totals() {
	c := o.core
	var known []value
	switch o.kind {
	case SpanChild:
		in, out := c.hot.totals()
		known = []value{intOf(KeyRequests, c.requests.Load()), intOf(KeyRuns, c.runs.Load()), intOf(KeyFramesIn, int64(in)), intOf(KeyFramesOut, int64(out))}
	case SpanRun:
		now := c.hot.deltaCounts()
		known = []value{intOf(KeyRunDeltas, int64(now[0]-o.deltas[0])), intOf(KeyRunDeltasDropped, int64(now[1]-o.deltas[1]))}
	default:
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range known {
		o.put(v)
	}
}

// export hands the ended span on. It reports whether the journal has taken it,
// and with it, where counts, the duty to count it: many at once are counted in a
// third of the time, because the code and what it counts in are at hand then.
func (o *openSpan) export(counts bool) bool {
	d := o.core.decision()
	if d.otlp != nil {
		d.otlp.Span(&endedSpan{o: o, tracer: &d.tracer})
	}
	if !d.config.File.On {
		return false
	}
	o.counts = counts
	return d.putEnded(o)
}

// faulty follows telemetry.md 4.4: a condition that the client made is no error
// of ours, and a cancellation is none at all.
func (o *openSpan) faulty() bool {
	if o.cut || !o.failed {
		return o.cut
	}
	switch text := o.code.text(); text {
	case "cancelled", "stale_revision", "operation_cancelled", "startup_cancelled":
		return false
	}
	return o.kind != SpanRequest || o.code.serverFault()
}

// fixed are the attributes that every span of a kind has.
var fixed = [kindCount][]attribute.KeyValue{
	SpanRequest:     {attribute.String(keyRPCSystem, rpcSystem)},
	SpanRun:         {attribute.String(keyOperation, "invoke_agent"), attribute.String(keyAgentName, serviceName)},
	SpanSubagent:    {attribute.String(keyOperation, "invoke_agent"), attribute.String(keyAgentName, agentSubagent)},
	SpanChat:        {attribute.String(keyOperation, "chat"), attribute.Bool(keyStream, true)},
	SpanExecuteTool: {attribute.String(keyOperation, "execute_tool"), attribute.String(keyToolType, "function")},
}
