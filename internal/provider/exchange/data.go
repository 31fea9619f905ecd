package exchange

import (
	"bytes"
	"errors"

	"magicode/internal/jsonscan"
)

// done is the marker that ends a stream of OpenAI's APIs.
var done = []byte("[DONE]")

// IsDone reports whether the data of an event is the [DONE] marker.
func IsDone(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), done) }

// ParseData checks the JSON of one event. Halves of surrogate pairs that came
// as raw bytes become U+FFFD, like those that came as escapes (decision 14).
func ParseData(data []byte) (jsonscan.Value, error) {
	v, err := jsonscan.Parse(data, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if errors.Is(err, jsonscan.ErrUTF8) {
		if fixed, ok := replaceSurrogates(data); ok {
			v, err = jsonscan.Parse(fixed, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
		}
	}
	if err != nil {
		return nil, Plain("provider sent an event that is not valid: %v (%s)", err, Snippet(data))
	}
	return v, nil
}

// ReadMembers is ParseData that hands out the members of the object on the way,
// in one pass. They count only if it returns no error. A value that is no
// object has none.
func ReadMembers(data []byte, member func(key, value jsonscan.Value)) (jsonscan.Value, error) {
	r := jsonscan.ReadObject(data, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	for {
		key, value, ok := r.Next()
		if !ok {
			break
		}
		member(key, value)
	}
	if r.Err() == nil {
		return jsonscan.Value(bytes.TrimSpace(data)), nil
	}
	v, err := ParseData(data)
	if err != nil {
		return nil, err
	}
	for key, value := range v.Members() { // bytes that had to be mended
		member(key, value)
	}
	return v, nil
}

// replaceSurrogates returns a copy of data in which encoded surrogates, which
// are no UTF-8, are U+FFFD. ok is false when there are none.
func replaceSurrogates(data []byte) (fixed []byte, ok bool) {
	for i := 0; i+2 < len(data); i++ {
		if data[i] == 0xed && data[i+1]&0xe0 == 0xa0 && data[i+2]&0xc0 == 0x80 {
			if !ok {
				fixed, ok = bytes.Clone(data), true
			}
			copy(fixed[i:], "\xef\xbf\xbd")
			i += 2
		}
	}
	return fixed, ok
}

// whole reports whether the data of an event without its final blank line is
// complete: one JSON value, or [DONE].
func whole(data []byte) bool {
	if IsDone(data) {
		return true
	}
	_, err := ParseData(data)
	return err == nil
}
