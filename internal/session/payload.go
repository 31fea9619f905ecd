package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

const (
	hidden  = "<redacted>"
	tooDeep = "<redacted: max depth>"
	// payloadDepth is what fits into a line beside the event object, so that no
	// record of ours is one that readers refuse.
	payloadDepth = maxContainers - 1
)

// writer appends payloads as readers of any program accept them: compact, keys
// in byte order, each once, strings redacted (storage.md 11.3), no half
// surrogate pair, no number beyond float64, no nesting that is refused on read.
type writer struct {
	plain bool   // no redaction: a checkpoint, whose summary is redacted already
	drop  string // members with this key are left out, at any depth
}

// value appends a Go value. Strings, numbers, maps and lists of them take the
// short way; everything else goes through encoding/json.
func (w *writer) value(dst []byte, v any, depth int, secret bool) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return w.text(dst, v, secret), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case map[string]any:
		return w.object(dst, v, depth)
	case []any:
		return list(w, dst, v, depth)
	case []map[string]any:
		return list(w, dst, v, depth)
	case []string:
		return list(w, dst, v, depth)
	case json.RawMessage:
		return w.raw(dst, v, depth, secret)
	case jsonscan.Value:
		return w.raw(dst, v, depth, secret)
	}
	raw, err := marshal(v)
	if err != nil {
		return dst, err
	}
	return w.raw(dst, raw, depth, secret)
}

func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPayload, err)
	}
	return buf.Bytes(), nil
}

func (w *writer) object(dst []byte, m map[string]any, depth int) ([]byte, error) {
	switch {
	case m == nil:
		return append(dst, "null"...), nil
	case depth >= payloadDepth:
		return jsonscan.AppendString(dst, tooDeep), nil
	}
	var few [16]string
	keys := few[:0]
	for k := range m {
		if w.drop == "" || k != w.drop {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, k), ':')
		var err error
		if dst, err = w.value(dst, m[k], depth+1, w.credential(k)); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func list[T any](w *writer, dst []byte, items []T, depth int) ([]byte, error) {
	if depth >= payloadDepth {
		return jsonscan.AppendString(dst, tooDeep), nil
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, item, depth+1, false); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (w *writer) credential(key string) bool { return !w.plain && redact.CredentialKey(key) }

func (w *writer) text(dst []byte, s string, secret bool) []byte {
	switch {
	case w.plain:
	case secret:
		s = hidden
	default:
		s = redact.Stored(s)
	}
	return jsonscan.AppendString(dst, s)
}

// raw appends JSON that somebody else wrote.
func (w *writer) raw(dst, src []byte, depth int, secret bool) ([]byte, error) {
	if src == nil {
		return append(dst, "null"...), nil
	}
	lenient := jsonscan.Options{LoneSurrogates: true, AnyNumber: true}
	v, err := jsonscan.Parse(src, lenient)
	if errors.Is(err, jsonscan.ErrUTF8) {
		v, err = jsonscan.Parse(bytes.ToValidUTF8(src, []byte("\uFFFD")), lenient)
	}
	switch {
	case errors.Is(err, jsonscan.ErrDepth):
		return jsonscan.AppendString(dst, tooDeep), nil
	case err != nil:
		return dst, fmt.Errorf("%w: %v", ErrPayload, err)
	}
	return w.copy(dst, v, depth, secret), nil
}

// copy recurses at most payloadDepth deep.
func (w *writer) copy(dst []byte, v jsonscan.Value, depth int, secret bool) []byte {
	switch v.Kind() {
	case jsonscan.Object, jsonscan.Array:
		if depth >= payloadDepth {
			return jsonscan.AppendString(dst, tooDeep)
		}
		if v.Kind() == jsonscan.Object {
			return w.members(dst, v, depth)
		}
		dst = append(dst, '[')
		first := true
		for e := range v.Elements() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = w.copy(dst, e, depth+1, false)
		}
		return append(dst, ']')
	case jsonscan.String:
		return w.copyText(dst, v, secret)
	case jsonscan.Number:
		return copyNumber(dst, v)
	}
	return append(dst, v...)
}

// member is one key with its value; of a repeated key the last one counts.
type member struct {
	key   string
	value jsonscan.Value
}

func (w *writer) members(dst []byte, v jsonscan.Value, depth int) []byte {
	var few [16]member
	ms := few[:0]
	sorted := true
	for k, m := range v.Members() {
		key := k.LenientText()
		if w.drop != "" && key == w.drop {
			continue
		}
		sorted = sorted && (len(ms) == 0 || ms[len(ms)-1].key < key)
		ms = append(ms, member{key, m})
	}
	if !sorted {
		slices.SortStableFunc(ms, func(a, b member) int { return cmpString(a.key, b.key) })
	}
	dst = append(dst, '{')
	comma := false
	for i, m := range ms {
		if i+1 < len(ms) && ms[i+1].key == m.key {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(jsonscan.AppendString(dst, m.key), ':')
		dst = w.copy(dst, m.value, depth+1, w.credential(m.key))
	}
	return append(dst, '}')
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// copyText keeps the spelling of a string that redaction does not change.
func (w *writer) copyText(dst []byte, v jsonscan.Value, secret bool) []byte {
	text, whole := v.Text()
	if !whole {
		return w.text(dst, v.LenientText(), secret)
	}
	if !secret && (w.plain || redact.Stored(text) == text) {
		return append(dst, v...)
	}
	return w.text(dst, text, secret)
}

// copyNumber turns a number that readers refuse into a string.
func copyNumber(dst []byte, v jsonscan.Value) []byte {
	if len(v) > 300 || bytes.ContainsAny(v, "eE") {
		if _, err := strconv.ParseFloat(string(v), 64); err != nil {
			return jsonscan.AppendString(dst, string(v))
		}
	}
	return append(dst, v...)
}
