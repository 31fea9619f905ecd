package telemetry

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/dump"
	"magicode/telemetry/otlpjson"
)

// What a capture has of spans that are open: that they began, and how far they
// have come (telemetry.md 5.1, 5.2). Nothing is queued for that: the journal
// goes through the list of the open spans whenever it looks. Most spans have ended
// by then, and cost nothing here: their end stands in the same write.

// tell writes down what is new about open spans, and reports whether there was
// anything. again is when the next one is due that has not lasted long enough;
// zero: none.
func (j *journal) tell(now time.Time) (told bool, again time.Time) {
	if !j.file.on() {
		return false, time.Time{}
	}
	j.opened = j.core.appendOpen(j.opened[:0])
	defer func() { clear(j.opened) }()
	for _, o := range slices.Backward(j.opened) { // the oldest first: what is above comes before what is below
		at := o.toldAt()
		switch {
		case at.IsZero() || o.told && !o.hasNews():
		case now.Before(at):
			if again.IsZero() || at.Before(again) {
				again = at
			}
		default:
			told = true
			j.tellOf(o)
		}
	}
	return told, again
}

// toldAt is when the start record of a span is written; zero: never.
func (o *openSpan) toldAt() time.Time {
	switch {
	case kinds[o.kind].now && !o.held:
		return o.start
	case o.held && !shortWait(o.kind): // an append beyond the cap
		return time.Time{}
	}
	return o.start.Add(lateAfter)
}

// hasNews reports what happened in a span and is not told yet.
func (o *openSpan) hasNews() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.happened) > o.events || o.further > 0
}

// tellOf writes the records that an open span wants: its start, each event, and
// what is known of it since it has come further.
func (j *journal) tellOf(o *openSpan) {
	late := o.held || !kinds[o.kind].now
	if o.held && !o.told {
		o.report() // it has become a span worth the name
	}
	o.mu.Lock()
	attrs := o.attributes(j.scratch[:0])
	attrs = append(attrs, attribute.String(keySpanName, o.name()))
	id, ended, further, news := o.id, o.ended, o.further, o.happened[o.events:]
	o.further = 0
	o.mu.Unlock()
	j.scratch = attrs
	if ended || !id.valid() {
		return
	}
	record := func(name string, at time.Time, more ...attribute.KeyValue) {
		j.log(otlpjson.Log{Time: j.core.clock(at), Name: name, Span: id.context(), Attributes: append(attrs, more...)})
	}
	if !o.told {
		o.told = true
		j.beat(o)
		record(recordStart, o.start, o.placed(late)...)
	}
	for _, e := range news {
		record(recordEvent, e.at, attribute.String(keyEventName, eventNames[e.name]))
	}
	o.events += len(news)
	if further > 0 {
		record(recordEvent, o.start.Add(further))
	}
}

// placed is what only a start record says: what a span is below, and that its
// start is told late.
func (o *openSpan) placed(late bool) (out []attribute.KeyValue) {
	if above := o.ancestor(); above.valid() && !kinds[o.kind].root {
		out = append(out, attribute.String(keySpanParent, above.span.String()))
	}
	if late {
		out = append(out, attribute.Bool(keySpanLate, true))
	}
	return out
}

// snap writes down how things stand shortly before a detachment.
func (j *journal) snap() {
	now := time.Now()
	for _, o := range j.core.openSpans() {
		o.mu.Lock()
		attrs := o.attributes(j.scratch[:0])
		attrs = append(attrs, attribute.String(keySpanName, o.name()))
		id := o.id
		o.mu.Unlock()
		if !id.valid() {
			continue
		}
		attrs = append(append(attrs, o.placed(false)...), attribute.Int64(keySpanAge, now.Sub(o.start).Milliseconds()))
		j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordOpen, Span: id.context(), Attributes: attrs})
		j.scratch = attrs
	}
	if j.d.config.File.Goroutines && j.file.on() {
		j.log(otlpjson.Log{Time: j.core.clock(now), Name: recordGoroutines, Body: dump.Goroutines()})
	}
	j.flush()
	j.writeTrace()
}
