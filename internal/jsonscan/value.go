package jsonscan

import "iter"

// Value is the raw bytes of one value that Parse has accepted, without white
// space around it; nil means absent. It aliases the parsed bytes and lives as
// long as they do. Its methods trust those bytes; on others they give
// unspecified results, but end and stay in bounds. All but Text and LenientText work without allocation.
type Value []byte

// Kind is the type of a value.
type Kind byte

// The kinds of values. Invalid is the kind of an absent one.
const (
	Invalid Kind = iota
	Object
	Array
	String
	Number
	True
	False
	Null
)

// Kind tells the type by the first byte.
func (v Value) Kind() Kind {
	if len(v) == 0 {
		return Invalid
	}
	switch v[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	}
	return Number
}

// Members yields the members of an object in order, repeated ones included; the
// key is a String value. It yields nothing for another kind.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) { v.members(yield) }
}

func (v Value) members(yield func(Value, Value) bool) {
	if v.Kind() != Object {
		return
	}
	for i := space(v, 1); i < len(v) && v[i] == '"'; {
		k := skip(v, i)
		at := space(v, space(v, k)+1)
		end := skip(v, at)
		if end <= at || !yield(v[i:k:k], v[at:end:end]) {
			return
		}
		i = space(v, space(v, end)+1)
	}
}

// Elements yields the elements of an array in order, and nothing for another kind.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) { v.elements(yield) }
}

func (v Value) elements(yield func(Value) bool) {
	if v.Kind() != Array {
		return
	}
	for i := space(v, 1); i < len(v) && v[i] != ']'; {
		end := skip(v, i)
		if end <= i || !yield(v[i:end:end]) {
			return
		}
		i = space(v, space(v, end)+1)
	}
}

// Get returns the member with this key, the last one where the key is repeated,
// and nil where there is none. Escapes in keys are decoded.
func (v Value) Get(key string) Value {
	var got Value
	for k, m := range v.Members() {
		if k.Is(key) {
			got = m
		}
	}
	return got
}

// Bool returns a boolean. ok is false for another kind.
func (v Value) Bool() (value, ok bool) {
	k := v.Kind()
	return k == True, k == True || k == False
}

// Int64 returns an integer that is spelled plainly: digits with or without a
// minus, no fraction, no exponent. ok is false for all else.
func (v Value) Int64() (n int64, ok bool) {
	digits, limit := v, uint64(1<<63-1)
	if len(v) > 0 && v[0] == '-' {
		digits, limit = v[1:], 1<<63
	}
	u, ok := digits.Uint64()
	if !ok || u > limit {
		return 0, false
	}
	if limit == 1<<63 {
		return -int64(u), true
	}
	return int64(u), true
}

// Uint64 returns an integer that is spelled in digits only. ok is false for all else.
func (v Value) Uint64() (n uint64, ok bool) {
	if len(v) == 0 || len(v) > 20 {
		return 0, false
	}
	for _, c := range v {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1)/10 || n*10 > 1<<64-1-d {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
