package jsonscan

import (
	"errors"
)

// Why bytes were refused. The errors carry no part of the input.
var (
	ErrSyntax    = errors.New("json: syntax error")
	ErrUTF8      = errors.New("json: invalid UTF-8")
	ErrDepth     = errors.New("json: nested too deeply")
	ErrSurrogate = errors.New("json: lone surrogate")
	ErrNumber    = errors.New("json: number out of range")
)

// MaxDepth is the most containers that may be open at once, whatever Options say.
const MaxDepth = 128

// Options say what is accepted beside plain JSON. The zero value is the
// strictest: 128 containers, no lone surrogates, numbers within float64.
type Options struct {
	// MaxDepth bounds the containers that are open at once, the outermost one
	// included; 0, and anything above 128, mean 128.
	MaxDepth int
	// LoneSurrogates accepts \ud800 without its other half. Text refuses such a
	// string, LenientText replaces it.
	LoneSurrogates bool
	// AnyNumber accepts numbers that overflow float64, such as 1e999.
	AnyNumber bool
}

func (o Options) depth() int {
	if o.MaxDepth <= 0 || o.MaxDepth > MaxDepth {
		return MaxDepth
	}
	return o.MaxDepth
}

// Parse checks that data is exactly one value, with JSON white space around it
// allowed, and returns that value. It aliases data. The error is one of the
// package's sentinels; invalid UTF-8 comes before all others, and of those the
// first that was found.
func Parse(data []byte, o Options) (Value, error) {
	if !validUTF8(data) {
		return nil, ErrUTF8
	}
	from := space(data, 0)
	end := trimEnd(data, from)
	s := scanner{data: data[:end], Options: o, max: o.depth()}
	if behind := s.value(from); behind < 0 {
		return nil, s.err
	} else if behind != end {
		return nil, ErrSyntax
	}
	return Value(data[from:end:end]), nil
}
