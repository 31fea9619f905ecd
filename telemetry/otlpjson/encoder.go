package otlpjson

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
)

// Record is what an attribute stands on.
type Record uint8

// Records.
const (
	RecordResource Record = iota
	RecordSpan
	RecordEvent
	RecordLog
	RecordMetric
)

// Allow decides whether an attribute may leave the process.
type Allow func(r Record, key string, v attribute.Value) bool

// Bounds of a line (telemetry.md 8.2); a goroutine dump has the larger one.
const (
	MaxLine = 256 << 10
	MaxDump = 300 << 10
	// sharedLine is up to where a line takes further spans. The resource and the
	// scope are 750 bytes, more than most spans: alone in its line, a span takes
	// three times the bytes and longer to write. A line that is torn takes all
	// of its spans with it, so it is not longer than that.
	sharedLine = 8 << 10
)

// Encoder is for one goroutine.
type Encoder struct {
	resource []byte
	scope    []byte
	allow    Allow
}

// New returns an encoder of one resource and one scope.
func New(resource []attribute.KeyValue, scope, version string, allow Allow) *Encoder {
	e := &Encoder{allow: allow}
	e.resource = append(e.attributes([]byte(`"resource":{`), RecordResource, resource), '}')
	e.scope = append(appendString(append(appendString([]byte(`"scope":{"name":`), scope), `,"version":`...), version), '}')
	return e
}

// open begins a line: {"<outer>":[{resource,"<inner>":[{scope,"<list>":[
func (e *Encoder) open(dst []byte, outer, inner, list string) []byte {
	dst = append(append(append(dst, `{"`...), outer...), `":[{`...)
	dst = append(append(dst, e.resource...), `,"`...)
	dst = append(append(dst, inner...), `":[{`...)
	dst = append(append(dst, e.scope...), `,"`...)
	return append(append(dst, list...), `":[`...)
}

// lineEnd is how every line ends.
const lineEnd = "]}]}]}\n"

func closeLine(dst []byte) []byte { return append(dst, lineEnd...) }

// attributes appends "attributes":[...]
func (e *Encoder) attributes(dst []byte, r Record, kvs []attribute.KeyValue) []byte {
	dst = append(dst, `"attributes":[`...)
	for i := range kvs {
		dst = e.AppendAttribute(dst, r, &kvs[i])
	}
	return closeList(dst)
}

// closeList ends a list whose elements have a comma behind them.
func closeList(dst []byte) []byte {
	return append(bytes.TrimSuffix(dst, []byte{','}), ']')
}

// AppendAttribute appends one attribute and a comma, or nothing where it may not
// leave.
func (e *Encoder) AppendAttribute(dst []byte, r Record, kv *attribute.KeyValue) []byte {
	if !e.allow(r, string(kv.Key), kv.Value) {
		return dst
	}
	dst = appendString(append(dst, `{"key":`...), string(kv.Key))
	return append(appendValue(append(dst, `,"value":`...), kv.Value), "},"...)
}

// numberEnd is what follows the digits of a number's attribute.
const numberEnd = `"}},`

// CutDigits returns what AppendAttribute made of a number up to its digits, for
// AppendDigits; nothing of nothing.
func CutDigits(attribute []byte) []byte {
	return bytes.TrimRight(bytes.TrimSuffix(attribute, []byte(numberEnd)), "-0123456789")
}

// AppendDigits appends a number and the end of its attribute.
func AppendDigits(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(dst, n, 10), numberEnd...)
}

func appendValue(dst []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.BOOL:
		return append(strconv.AppendBool(append(dst, `{"boolValue":`...), v.AsBool()), '}')
	case attribute.INT64:
		return append(strconv.AppendInt(append(dst, `{"intValue":"`...), v.AsInt64(), 10), `"}`...)
	case attribute.FLOAT64:
		return append(appendFloat(append(dst, `{"doubleValue":`...), v.AsFloat64()), '}')
	case attribute.STRING:
		return append(appendString(append(dst, `{"stringValue":`...), v.AsString()), '}')
	case attribute.STRINGSLICE:
		dst = append(dst, `{"arrayValue":{"values":[`...)
		for i, s := range v.AsStringSlice() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(append(dst, `{"stringValue":`...), s), '}')
		}
		return append(dst, `]}}`...)
	case attribute.INT64SLICE:
		dst = append(dst, `{"arrayValue":{"values":[`...)
		for i, n := range v.AsInt64Slice() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendInt(append(dst, `{"intValue":"`...), n, 10), `"}`...)
		}
		return append(dst, `]}}`...)
	}
	return append(dst, `{}`...)
}

// appendFloat knows no NaN and no infinity; there are none in what we count.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, '0')
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

func appendTime(dst []byte, t time.Time) []byte {
	return append(strconv.AppendInt(append(dst, '"'), t.UnixNano(), 10), '"')
}

func appendHex(dst, id []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, b := range id {
		dst = append(dst, hex[b>>4], hex[b&15])
	}
	return append(dst, '"')
}

// plain reports a text that stands in JSON as it is: nearly all of ours.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendString escapes what JSON must have escaped; bad UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	if plain(s) {
		return append(append(dst, s...), '"')
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
