// Package textbuf collects texts that grow long piece by piece: a reply, while
// it streams. What it has is never moved to make room, so a text of n bytes costs
// n bytes of memory and, when it is asked for, n more, where a buffer that doubles
// or grows by a quarter leaves several times that to the garbage collector.
package textbuf

import (
	"strings"
	"unsafe"
)

const (
	firstBlock = 256      // bytes; most texts are short
	largeBlock = 32 << 10 // blocks double up to this
	ownPiece   = 2048     // from here on a string is kept as it is, not copied
)

// Builder is a text in pieces. The zero value is empty and ready; it must not be
// copied once it is used. It is not safe for concurrent use.
type Builder struct {
	_    noCopy
	full []string // what is complete, in order
	tail []byte   // the block that is being filled: its bytes are written once
	next int      // capacity of the next block, 0: firstBlock
	n    int
}

// noCopy lets go vet find copies, which would write into the same blocks.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Len is the length of the text in bytes.
func (b *Builder) Len() int { return b.n }

// WriteString adds s. A long s is kept, not copied: it should be no part of
// something much longer that could be forgotten otherwise.
func (b *Builder) WriteString(s string) {
	if len(s) < ownPiece {
		b.room(len(s))
		b.tail = append(b.tail, s...)
		b.n += len(s)
		return
	}
	b.seal()
	b.full = append(b.full, s)
	b.n += len(s)
}

// Append adds the bytes of p and returns them as a string that shares the
// text's memory.
func (b *Builder) Append(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	b.room(len(p))
	at := len(b.tail)
	b.tail = append(b.tail, p...)
	b.n += len(p)
	return view(b.tail[at:])
}

// String returns the text. It is joined once: asked again without a change in
// between, nothing is copied.
func (b *Builder) String() string {
	if len(b.full) == 0 {
		return view(b.tail)
	}
	if len(b.full) == 1 && len(b.tail) == 0 {
		return b.full[0]
	}
	whole := b.With("")
	clear(b.full)
	b.full = append(b.full[:0], whole)
	b.tail = nil
	return whole
}

// With returns the text with rest behind it, which does not become part of it.
func (b *Builder) With(rest string) string {
	var out strings.Builder
	out.Grow(b.n + len(rest))
	for _, s := range b.full {
		out.WriteString(s)
	}
	out.Write(b.tail)
	out.WriteString(rest)
	return out.String()
}

// Reset empties the text. Strings that were given out stay valid.
func (b *Builder) Reset() { *b = Builder{} }

// CutPrefixOf returns what follows the text in s, if s begins with it.
func (b *Builder) CutPrefixOf(s string) (rest string, ok bool) {
	rest = s
	for _, piece := range b.full {
		if rest, ok = strings.CutPrefix(rest, piece); !ok {
			return s, false
		}
	}
	if rest, ok = strings.CutPrefix(rest, view(b.tail)); !ok {
		return s, false
	}
	return rest, true
}

// room makes sure that n more bytes fit into tail without moving it.
func (b *Builder) room(n int) {
	if cap(b.tail)-len(b.tail) >= n {
		return
	}
	b.seal()
	size := max(b.next, firstBlock)
	b.next = min(2*size, largeBlock)
	b.tail = make([]byte, 0, max(size, n))
}

// seal ends the block that is being filled. What is free in it stays usable.
func (b *Builder) seal() {
	if len(b.tail) == 0 {
		return
	}
	b.full = append(b.full, view(b.tail))
	b.tail = b.tail[len(b.tail):]
}

// view is p as a string. The bytes below len(p) are never written again.
func view(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }
