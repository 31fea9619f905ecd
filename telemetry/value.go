package telemetry

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
)

// value is a number, a yes or no, or a word, as a span keeps it until it leaves.
// It has no pointer and a quarter of the size of an OpenTelemetry attribute:
// hundreds of spans wait for the journal, and what waits makes the collector of
// garbage run more often.
type value struct {
	class form // formInt, formBool or formWord
	key   uint8
	n     int64
}

func intOf(k IntKey, n int64) value { return value{formInt, uint8(k), n} }

func boolOf(k BoolKey, yes bool) value {
	v := value{class: formBool, key: uint8(k)}
	if yes {
		v.n = 1
	}
	return v
}

func wordOf(k EnumKey, w Word) value { return value{formWord, uint8(k), int64(w)} }

// name is the key as it leaves.
func (v value) name() string {
	switch v.class {
	case formInt:
		return intKeys[v.key]
	case formBool:
		return boolKeys[v.key]
	}
	return enumKeys[v.key]
}

func (v value) attribute() attribute.KeyValue {
	switch {
	case v.class == formInt:
		return attribute.Int64(v.name(), v.n)
	case v.class == formBool:
		return attribute.Bool(v.name(), v.n != 0)
	case EnumKey(v.key) == KeyFinishReasons:
		return attribute.StringSlice(v.name(), []string{Word(v.n).text()}) // the convention has one for each choice
	}
	return attribute.String(v.name(), Word(v.n).text())
}

// find returns the last value of a key. Needs mu.
func (o *openSpan) find(class form, key uint8) (n int64, ok bool) {
	for i := range o.values {
		if v := &o.values[i]; v.class == class && v.key == key {
			return v.n, true
		}
	}
	return 0, false
}

// set keeps the last value of a key. Needs mu.
func (o *openSpan) set(v value) {
	if !o.ended && !o.put(v) {
		o.core.dropSpan()
	}
}

// put is set without its conditions; it reports whether there was room. Needs mu.
func (o *openSpan) put(v value) bool {
	for i := range o.values {
		if o.values[i].class == v.class && o.values[i].key == v.key {
			o.values[i].n = v.n
			return true
		}
	}
	if len(o.values) >= maxAttributes {
		return false
	}
	switch {
	case o.values != nil:
	case kinds[o.kind].many:
		o.values = make([]value, 0, manyValues)
	default:
		o.values = o.few[:0]
	}
	o.values = append(o.values, v)
	return true
}

// attributes appends what is known of a span, as it leaves. Needs mu, or a span
// that has ended.
func (o *openSpan) attributes(dst []attribute.KeyValue) []attribute.KeyValue {
	for _, v := range o.values {
		if o.shown(v) {
			dst = append(dst, v.attribute())
		}
	}
	return o.others(dst)
}

// shown is false for a word whose place a plain name takes. Needs mu, or a span
// that has ended.
func (o *openSpan) shown(v value) bool {
	return v.class != formWord || EnumKey(v.key) != KeyProviderName || o.nameOf(KeyProviderID) == ""
}

// others appends the attributes that are not among the values: names, what every
// span of a kind has, and how it ended.
func (o *openSpan) others(dst []attribute.KeyValue) []attribute.KeyValue {
	from := len(dst)
	for _, n := range o.names {
		if text := o.core.nameText(n.name); text != "" {
			dst = append(dst, attribute.String(nameKeys[n.key], text))
		}
	}
	if o.lists != nil {
		dst = append(dst, o.lists[:]...)
	}
	if !o.ended {
		return dst
	}
	for _, kv := range fixed[o.kind] {
		if find(dst[from:], kv.Key) < 0 { // a plain agent name takes the place of the fixed one
			dst = append(dst, kv)
		}
	}
	if o.cut {
		dst = append(dst, attribute.Bool(keySpanCut, true))
	}
	if o.failed {
		text := o.code.text()
		dst = append(dst, attribute.String(keyErrorType, text))
		if o.kind == SpanRequest || o.kind == SpanMCPCall && o.code.rpc() {
			dst = append(dst, attribute.String(keyRPCStatus, text))
		}
	}
	return dst
}

// find is the place of a key, -1 where it has none.
func find(kvs []attribute.KeyValue, key attribute.Key) int {
	return slices.IndexFunc(kvs, func(kv attribute.KeyValue) bool { return kv.Key == key })
}

// name is the kind's name, with the word or model that belongs to it. Needs mu,
// or a span that has ended.
func (o *openSpan) name() string {
	info := &kinds[o.kind]
	tail := ""
	switch {
	case o.kind == SpanChat:
		tail = o.nameOf(KeyModel)
	case info.tail != keyNone:
		if w, ok := o.find(formWord, uint8(info.tail)); ok {
			tail = Word(w).text()
		}
	}
	switch {
	case tail == "":
		return info.name
	case info.only:
		return tail
	}
	return info.name + " " + tail
}

// nameOf is what may be said of a name that a span has; "" for nothing. Needs mu,
// or a span that has ended.
func (o *openSpan) nameOf(k NameKey) string {
	for _, n := range o.names {
		if n.key == k {
			return o.core.nameText(n.name)
		}
	}
	return ""
}

// word is the word that a span has for a key.
func (o *openSpan) word(k EnumKey) Word {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	w, _ := o.find(formWord, uint8(k))
	return Word(w)
}
