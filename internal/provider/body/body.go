package body

import (
	"io"

	"magicode/internal/jsonscan"
)

// shareFrom is the size from which a piece is referred to instead of copied:
// below it a copy is cheaper than one more piece to walk.
const shareFrom = 512

// Body is a finished body. It is immutable and may be read many times, also at
// the same time.
type Body struct {
	parts [][]byte
	size  int64
}

// Len is the size in bytes.
func (b *Body) Len() int64 { return b.size }

// Reader returns a new reader of the whole body. Close does nothing.
func (b *Body) Reader() io.ReadCloser { return &reader{parts: b.parts} }

// Bytes returns a copy of the whole body; for tests and small bodies.
func (b *Body) Bytes() []byte {
	out := make([]byte, 0, b.size)
	for _, p := range b.parts {
		out = append(out, p...)
	}
	return out
}

type reader struct {
	parts [][]byte
	off   int
}

func (r *reader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.parts) > 0 {
		c := copy(p[n:], r.parts[0][r.off:])
		n, r.off = n+c, r.off+c
		if r.off == len(r.parts[0]) {
			r.parts, r.off = r.parts[1:], 0
		}
	}
	if n == 0 && len(r.parts) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *reader) Close() error { return nil }

// Builder makes one Body. The zero value is ready; it is not safe for
// concurrent use and is used up by Done.
type Builder struct {
	parts [][]byte
	own   []byte // pieces written here; never overwritten, only appended to
	start int    // own[start:] is not yet a part
	size  int64
	comma bool // the next Key or Elem is not the first of its container
}

// Raw adds bytes as they are. Long ones are not copied: they must not be
// changed while the body is in use.
func (b *Builder) Raw(p []byte) {
	if len(p) < shareFrom {
		b.own = append(b.own, p...)
		return
	}
	b.seal()
	b.parts = append(b.parts, p)
	b.size += int64(len(p))
}

// Lit adds literal text.
func (b *Builder) Lit(s string) { b.own = append(b.own, s...) }

// Open begins a container: "{" or "[".
func (b *Builder) Open(bracket string) {
	b.Lit(bracket)
	b.comma = false
}

// Close ends a container: "}" or "]".
func (b *Builder) Close(bracket string) {
	b.Lit(bracket)
	b.comma = true
}

// Elem begins the next element of an array.
func (b *Builder) Elem() {
	if b.comma {
		b.Lit(",")
	}
	b.comma = true
}

// Key begins the next member of an object; key needs no escapes.
func (b *Builder) Key(key string) {
	b.Elem()
	b.own = append(append(append(b.own, '"'), key...), '"', ':')
}

// Str adds a member with a string value.
func (b *Builder) Str(key, value string) {
	b.Key(key)
	b.String(value)
}

// String adds a string value.
func (b *Builder) String(value string) {
	b.own = jsonscan.AppendString(b.own, value)
}

// Member adds a member whose value is JSON text.
func (b *Builder) Member(key, json string) {
	b.Key(key)
	b.Lit(json)
}

// Done returns the body.
func (b *Builder) Done() *Body {
	b.seal()
	return &Body{parts: b.parts, size: b.size}
}

func (b *Builder) seal() {
	if n := len(b.own) - b.start; n > 0 {
		b.parts = append(b.parts, b.own[b.start:len(b.own):len(b.own)])
		b.size += int64(n)
		b.start = len(b.own)
	}
}
