package otlp

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/otlpjson"
)

// encoder appends the messages of OTLP 1.x. It is safe for concurrent use.
type encoder struct {
	resource []byte // the body of a Resource
	scope    []byte // the body of an InstrumentationScope
	allow    otlpjson.Allow
}

// newEncoder takes the attributes of the resource, which are checked, and what
// the user added, which is not: it is the user's own text for this endpoint.
func newEncoder(o *Options) *encoder {
	e := &encoder{allow: o.Allow}
	own := map[attribute.Key]bool{}
	for _, kv := range o.Resource {
		own[kv.Key] = true
		if v, ok := o.user(string(kv.Key)); ok && kv.Key == serviceNameKey {
			kv = attribute.String(serviceNameKey, v)
		} else if !e.allow(otlpjson.RecordResource, string(kv.Key), kv.Value) {
			continue
		}
		e.resource = appendAttribute(e.resource, 1, kv)
	}
	for _, a := range o.Config.Resource {
		if v, _ := o.user(a.Key); !own[attribute.Key(a.Key)] && v == a.Value {
			own[attribute.Key(a.Key)] = true
			e.resource = appendAttribute(e.resource, 1, attribute.String(a.Key, a.Value))
		}
	}
	e.scope = appendText(appendText(nil, 1, o.Scope), 2, o.Version)
	return e
}

// serviceNameKey is the one attribute of ours that a user can replace.
const serviceNameKey = "service.name"

// user is the last value that the user gave a key of the resource.
func (o *Options) user(key string) (value string, ok bool) {
	for _, a := range o.Config.Resource {
		if a.Key == key {
			value, ok = a.Value, true
		}
	}
	return value, ok
}

// request wraps the records of one signal: ResourceSpans and ResourceMetrics
// have the same shape and the same field numbers.
func (e *encoder) request(dst, records []byte) []byte {
	dst, whole := begin(dst, 1)
	dst = appendBytes(dst, 1, e.resource)
	dst, scoped := begin(dst, 2)
	dst = append(appendBytes(dst, 1, e.scope), records...)
	return finish(finish(dst, scoped), whole)
}

// attributes appends those that may leave, each as a field.
func (e *encoder) attributes(dst []byte, field protowire.Number, r otlpjson.Record, kvs []attribute.KeyValue) []byte {
	for i := range kvs {
		if e.allow(r, string(kvs[i].Key), kvs[i].Value) {
			dst = appendAttribute(dst, field, kvs[i])
		}
	}
	return dst
}

func appendAttribute(dst []byte, field protowire.Number, kv attribute.KeyValue) []byte {
	dst, at := begin(dst, field)
	dst = appendText(dst, 1, string(kv.Key))
	dst, value := begin(dst, 2)
	return finish(finish(appendValue(dst, kv.Value), value), at)
}

// appendValue appends the body of an AnyValue.
func appendValue(dst []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.BOOL:
		return protowire.AppendVarint(protowire.AppendTag(dst, 2, protowire.VarintType), protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		return protowire.AppendVarint(protowire.AppendTag(dst, 3, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return appendDouble(dst, 4, v.AsFloat64())
	case attribute.STRING:
		return protowire.AppendString(protowire.AppendTag(dst, 1, protowire.BytesType), valid(v.AsString()))
	case attribute.STRINGSLICE:
		dst, at := begin(dst, 5)
		for _, s := range v.AsStringSlice() {
			dst = one(dst, attribute.StringValue(s))
		}
		return finish(dst, at)
	case attribute.INT64SLICE:
		dst, at := begin(dst, 5)
		for _, n := range v.AsInt64Slice() {
			dst = one(dst, attribute.Int64Value(n))
		}
		return finish(dst, at)
	}
	return dst
}

// one appends an element of an array.
func one(dst []byte, v attribute.Value) []byte {
	dst, at := begin(dst, 1)
	return finish(appendValue(dst, v), at)
}

// begin opens a message field whose length is not known yet; finish closes it.
func begin(dst []byte, field protowire.Number) (out []byte, at int) {
	dst = append(protowire.AppendTag(dst, field, protowire.BytesType), 0)
	return dst, len(dst)
}

func finish(dst []byte, at int) []byte {
	n := len(dst) - at
	if more := protowire.SizeVarint(uint64(n)) - 1; more > 0 {
		for range more {
			dst = append(dst, 0)
		}
		copy(dst[at+more:], dst[at:at+n])
	}
	protowire.AppendVarint(dst[:at-1], uint64(n))
	return dst
}

func appendBytes(dst []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), b)
}

// appendText appends a string field; none for "".
func appendText(dst []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return dst
	}
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), valid(s))
}

func appendFixed(dst []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(dst, field, protowire.Fixed64Type), n)
}

func appendDouble(dst []byte, field protowire.Number, f float64) []byte {
	return appendFixed(dst, field, math.Float64bits(f))
}

func appendEnum(dst []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), n)
}

// appendPacked appends a list of 64-bit values.
func appendPacked[T uint64 | float64](dst []byte, field protowire.Number, list []T, bits func(T) uint64) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.BytesType), uint64(8*len(list)))
	for _, v := range list {
		dst = binary.LittleEndian.AppendUint64(dst, bits(v))
	}
	return dst
}

// rejected reads an Export…Response: how many records were not taken. An answer
// that makes no sense says nothing.
func rejected(body []byte) uint64 {
	partial := field(body, 1, protowire.BytesType)
	n, used := protowire.ConsumeVarint(field(partial, 1, protowire.VarintType))
	if used < 0 || int64(n) < 0 {
		return 0
	}
	return n
}

// field returns the last value of a field, without its tag, and of bytes without
// their length; nil where there is none.
func field(b []byte, want protowire.Number, kind protowire.Type) (out []byte) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(num, typ, b)
		if size < 0 {
			return nil
		}
		if num == want && typ == kind {
			out = b[:size]
			if typ == protowire.BytesType {
				out, _ = protowire.ConsumeBytes(b)
			}
		}
		b = b[size:]
	}
	return out
}
