package body

import (
	"bytes"
	"slices"

	"magicode/internal/jsonscan"
)

// parseOptions: items come from providers, who may send halves of surrogate
// pairs and numbers beyond float64 (decision 14).
var parseOptions = jsonscan.Options{LoneSurrogates: true, AnyNumber: true}

// Parse checks JSON that came from a provider or a session file.
func Parse(raw []byte) (jsonscan.Value, error) { return jsonscan.Parse(raw, parseOptions) }

// AppendSorted appends a value compactly, with the keys of every object in byte
// order. Members of the outermost object for which skip is true are left out; a
// repeated key keeps its last value; half a surrogate pair becomes U+FFFD. The
// depth of recursion is bounded by jsonscan.MaxDepth.
func AppendSorted(dst []byte, v jsonscan.Value, skip func(key string) bool) []byte {
	switch v.Kind() {
	case jsonscan.Object:
		return appendObject(dst, v, skip)
	case jsonscan.Array:
		dst = append(dst, '[')
		first := true
		for e := range v.Elements() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = AppendSorted(dst, e, nil)
		}
		return append(dst, ']')
	case jsonscan.String:
		return AppendText(dst, v)
	}
	return append(dst, v...)
}

// AppendText appends a string value as a JSON string, in its own spelling
// where that is sound.
func AppendText(dst []byte, v jsonscan.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return append(dst, v...)
	}
	return jsonscan.AppendString(dst, v.LenientText())
}

type member struct {
	key   string
	value jsonscan.Value
}

func appendObject(dst []byte, v jsonscan.Value, skip func(string) bool) []byte {
	var fixed [16]member
	members := fixed[:0]
	for k, m := range v.Members() {
		key := k.LenientText()
		if skip != nil && skip(key) {
			continue
		}
		if i := slices.IndexFunc(members, func(o member) bool { return o.key == key }); i >= 0 {
			members[i].value = m
			continue
		}
		members = append(members, member{key, m})
	}
	slices.SortFunc(members, func(a, b member) int { return compare(a.key, b.key) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, m.key), ':')
		dst = AppendSorted(dst, m.value, nil)
	}
	return append(dst, '}')
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// AppendSchema appends a JSON schema compactly and sorted; one that is no
// object stands for any arguments.
func AppendSchema(dst, schema []byte) []byte { return AppendObject(dst, schema, `{"type":"object"}`) }

// AppendObject appends a JSON object compactly and sorted, or the text of
// another one in place of what is none.
func AppendObject(dst, raw []byte, other string) []byte {
	v, err := Parse(raw)
	if err != nil || v.Kind() != jsonscan.Object {
		return append(dst, other...)
	}
	return AppendSorted(dst, v, nil)
}
