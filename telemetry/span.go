package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Span is one open span. The zero value is valid: every method does nothing.
// Its methods may be called from any goroutine; after End they do nothing.
type Span struct{ s *openSpan }

// contextKey is the key under which a context holds its *openSpan.
type contextKey struct{}

// openSpan holds all that is known of a span until it ends, so that one that
// began before telemetry was decided on is no different from others.
type openSpan struct {
	core   *core
	kind   Kind
	start  time.Time
	parent *openSpan

	// In the registry of open spans, guarded by the core's openMu.
	prev, next *openSpan

	mu     sync.Mutex
	sc     trace.SpanContext // invalid before the decision, and for a span that is kept back
	above  trace.SpanContext // of the span that it is reported below
	held   bool              // kept back: it counts only if it is slow or fails
	ended  bool
	cut    bool
	end    time.Time
	failed bool
	code   Code
	attrs  []attribute.KeyValue
	deltas [2]uint64 // of the child when a run began
	words  labels    // the words a metric may want
	ints   [8]intValue
	nInts  int
	names  []pendingName
	events []spanEvent
}

type intValue struct {
	key   IntKey
	value int64
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
	usualAttrs    = 10
	mostAttrs     = 26
)

// Begin opens a span below the one that ctx carries. Off, it returns ctx
// unchanged and the zero Span.
func (t Tel) Begin(ctx context.Context, k Kind) (context.Context, Span) {
	c := t.core()
	if c == nil {
		return ctx, Span{}
	}
	parent, _ := ctx.Value(contextKey{}).(*openSpan)
	s := c.begin(k, parent, time.Now())
	if s == nil {
		return ctx, Span{}
	}
	return context.WithValue(ctx, contextKey{}, s), Span{s}
}

// BeginInChild opens a span below the child's own, for what belongs to no request.
func (t Tel) BeginInChild(k Kind) Span {
	c := t.core()
	if c == nil {
		return Span{}
	}
	return Span{c.begin(k, c.child.Load(), time.Now())}
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
	return Span{s.s.core.begin(k, s.s, time.Now())}
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
	o.set(attribute.Int64(intKeys[k], v))
	if !o.ended && countedInt(k) {
		o.count(k, v)
	}
}

// count keeps the last value of a number that a metric has. Needs mu.
func (o *openSpan) count(k IntKey, v int64) {
	for i := range o.ints[:o.nInts] {
		if o.ints[i].key == k {
			o.ints[i].value = v
			return
		}
	}
	if o.nInts < len(o.ints) {
		o.ints[o.nInts] = intValue{k, v}
		o.nInts++
	}
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
	s.s.set(attribute.Bool(boolKeys[k], v))
}

// Str sets a word. One that says how far the span has come is recorded at once,
// so that it is known of a span that never ends (telemetry.md 5.2).
func (s Span) Str(k EnumKey, v Word) {
	if s.s == nil || k == keyNone || k >= enumKeyCount {
		return
	}
	s.s.str(k, v)
	if k == KeyMCPStep || k == KeyMCPPhase || k == KeyAttemptPhase {
		s.s.core.progress(s.s, "", time.Now())
	}
}

func (o *openSpan) str(k EnumKey, v Word) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k == KeyFinishReasons {
		o.set(attribute.StringSlice(enumKeys[k], []string{v.text()})) // the convention has one for each choice
		return
	}
	o.set(attribute.String(enumKeys[k], v.text()))
	if !o.ended && countedWord(o.kind, k) {
		o.words = o.words.with(k, v)
	}
}

// Name sets a configured name or an id, as the user's setting allows.
func (s Span) Name(k NameKey, n UserName) {
	if s.s == nil || k >= nameKeyCount || n.value == "" {
		return
	}
	o := s.s
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended && len(o.names) < maxAttributes {
		o.names = append(o.names, pendingName{k, n})
	}
}

// Event notes that something happened now.
func (s Span) Event(e EventName) {
	if s.s == nil || e >= eventNameCount {
		return
	}
	o, at := s.s, time.Now()
	o.mu.Lock()
	live := !o.ended && len(o.events) < maxEvents
	if live {
		o.events = append(o.events, spanEvent{e, at})
	}
	o.mu.Unlock()
	if !live {
		return
	}
	o.core.slow.countEvent(o, e, at)
	if kinds[o.kind].now {
		o.core.progress(o, eventNames[e], at)
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
		s.s.finish(time.Now(), false)
	}
}

// set keeps the last value of a key. Needs mu.
func (o *openSpan) set(kv attribute.KeyValue) {
	if o.ended {
		return
	}
	if !o.put(kv) {
		o.core.dropSpan()
	}
}

// put is set without its conditions; it reports whether there was room. Needs mu.
func (o *openSpan) put(kv attribute.KeyValue) bool {
	for i := range o.attrs {
		if o.attrs[i].Key == kv.Key {
			o.attrs[i] = kv
			return true
		}
	}
	if len(o.attrs) >= maxAttributes {
		return false
	}
	if o.attrs == nil {
		o.attrs = make([]attribute.KeyValue, 0, kinds[o.kind].attributes())
	}
	o.attrs = append(o.attrs, kv)
	return true
}

// attributes is how many a span of this kind usually ends with.
func (k *kindInfo) attributes() int {
	if k.many {
		return mostAttrs
	}
	return usualAttrs
}

// finish ends the span and counts it.
func (o *openSpan) finish(now time.Time, cut bool) {
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return
	}
	o.ended, o.end, o.cut = true, now, cut
	reported, held := o.sc.IsValid(), o.held
	o.mu.Unlock()
	o.core.leave(o)
	o.totals()
	if (!cut || o.kind >= SpanCleanup) && (!held || o.kind == SpanSessionAppend || now.Sub(o.start) >= heldFor(o.kind)) {
		o.core.slow.countSpan(o)
	}
	switch {
	case reported:
		o.export()
	case !held:
	case o.failed || now.Sub(o.start) >= heldFor(o.kind):
		o.core.late(o)
	case o.kind == SpanSessionAppend:
		o.core.dropSpan()
	}
}

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
	var known []intValue
	switch o.kind {
	case SpanChild:
		in, out := c.hot.totals()
		known = []intValue{{KeyRequests, c.requests.Load()}, {KeyRuns, c.runs.Load()}, {KeyFramesIn, int64(in)}, {KeyFramesOut, int64(out)}}
	case SpanRun:
		now := c.hot.deltaCounts()
		known = []intValue{{KeyRunDeltas, int64(now[0] - o.deltas[0])}, {KeyRunDeltasDropped, int64(now[1] - o.deltas[1])}}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range known {
		o.put(attribute.Int64(intKeys[v.key], v.value))
	}
}

// export hands the ended span on.
func (o *openSpan) export() {
	d := o.core.decided.Load()
	o.resolve()
	o.mu.Lock()
	for _, kv := range fixed[o.kind] {
		if !o.has(kv.Key) { // a plain agent name takes the place of the fixed one
			o.attrs = append(o.attrs, kv)
		}
	}
	if o.cut {
		o.attrs = append(o.attrs, attribute.Bool(keySpanCut, true))
	}
	if o.failed {
		text := o.code.text()
		o.attrs = append(o.attrs, attribute.String(keyErrorType, text))
		if o.kind == SpanRequest || o.kind == SpanMCPCall && o.code.rpc() {
			o.attrs = append(o.attrs, attribute.String(keyRPCStatus, text))
		}
	}
	o.mu.Unlock()
	d.tracer.hub.OnEnd(&endedSpan{o: o, tracer: &d.tracer})
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

func (o *openSpan) has(key attribute.Key) bool {
	return slices.ContainsFunc(o.attrs, func(kv attribute.KeyValue) bool { return kv.Key == key })
}

// resolve turns names into attributes, as soon as it is known how.
func (o *openSpan) resolve() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.names {
		if text := o.core.nameText(n.name); text != "" {
			o.put(attribute.String(nameKeys[n.key], text))
		}
	}
	o.names = nil
}

// name is the kind's name, with the word or model that belongs to it.
func (o *openSpan) name() string {
	info := &kinds[o.kind]
	key := attribute.Key(enumKeys[info.tail])
	if o.kind == SpanChat {
		key = attribute.Key(nameKeys[KeyModel])
	}
	if key == "" {
		return info.name
	}
	for _, kv := range o.attrs {
		if kv.Key == key {
			if info.only {
				return kv.Value.AsString()
			}
			return info.name + " " + kv.Value.AsString()
		}
	}
	return info.name
}

// fixed are the attributes that every span of a kind has.
var fixed = [kindCount][]attribute.KeyValue{
	SpanRequest:     {attribute.String(keyRPCSystem, rpcSystem)},
	SpanRun:         {attribute.String(keyOperation, "invoke_agent"), attribute.String(keyAgentName, serviceName)},
	SpanSubagent:    {attribute.String(keyOperation, "invoke_agent"), attribute.String(keyAgentName, agentSubagent)},
	SpanChat:        {attribute.String(keyOperation, "chat"), attribute.Bool(keyStream, true)},
	SpanExecuteTool: {attribute.String(keyOperation, "execute_tool"), attribute.String(keyToolType, "function")},
}
