package telemetry

import (
	"go.opentelemetry.io/otel/trace"

	"magicode/telemetry/otlpjson"
)

// fragments are values as they stand in a capture. There are some hundreds of
// them, and each stands there thousands of times: to encode one and to hold it
// against the list of what may leave takes longer than to copy the result. They
// are the journal's.
type fragments struct {
	encoder *otlpjson.Encoder
	numbers [intKeyCount]fragment
	flags   [boolKeyCount][2]fragment
	words   [enumKeyCount][]wordFragment
}

// fragment has no text if the value may not leave.
type fragment struct {
	made bool
	text []byte // of a number: up to where the digits begin
}

type wordFragment struct {
	word Word
	fragment
}

// writtenSpan is an ended span on its way into the capture.
type writtenSpan struct {
	endedSpan
	fragments fragments
}

// IDs is what otlpjson wants.
func (w *writtenSpan) IDs() (of trace.TraceID, span, parent trace.SpanID) {
	if !kinds[w.o.kind].root {
		parent = w.o.above.span
	}
	return w.o.id.trace, w.o.id.span, parent
}

// AppendAttributes is what otlpjson wants.
func (w *writtenSpan) AppendAttributes(dst []byte) []byte {
	f := &w.fragments
	for _, v := range w.o.values {
		if w.o.shown(v) {
			dst = f.append(dst, v)
		}
	}
	w.room = w.o.others(w.room[:0])
	for i := range w.room {
		dst = f.encoder.AppendAttribute(dst, otlpjson.RecordSpan, &w.room[i])
	}
	return dst
}

func (f *fragments) append(dst []byte, v value) []byte {
	x := f.of(v)
	if !x.made {
		kv := v.attribute()
		*x = fragment{made: true, text: f.encoder.AppendAttribute(nil, otlpjson.RecordSpan, &kv)}
		if v.class == formInt {
			x.text = otlpjson.CutDigits(x.text)
		}
	}
	if dst = append(dst, x.text...); v.class == formInt && len(x.text) > 0 {
		dst = otlpjson.AppendDigits(dst, v.n)
	}
	return dst
}

// of is where a value's fragment is, or will be.
func (f *fragments) of(v value) *fragment {
	switch v.class {
	case formInt:
		return &f.numbers[v.key]
	case formBool:
		return &f.flags[v.key][v.n]
	}
	list := &f.words[v.key]
	for i := range *list {
		if (*list)[i].word == Word(v.n) {
			return &(*list)[i].fragment
		}
	}
	*list = append(*list, wordFragment{word: Word(v.n)})
	return &(*list)[len(*list)-1].fragment
}

var _ otlpjson.Span = (*writtenSpan)(nil)
