package redact

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBlock holds the bits of a block against a look at each byte.
func TestBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.Byte(), blockBytes+4, blockBytes+4).Draw(t, "bytes"))
		var b block
		b.read(s, 2)
		for k := range blockBytes {
			kind := kinds[s[2+k]]
			start := kind == letter && (k == 0 || kinds[s[1+k]] != letter)
			if got, want := b.words>>k&1 == 1, kind == letter; got != want {
				t.Fatalf("byte %#x at %d: word %v", s[2+k], k, got)
			}
			if got, want := b.todo>>k&1 == 1, start || kind == separator || kind == backslash; got != want {
				t.Fatalf("byte %#x at %d: to be looked at %v", s[2+k], k, got)
			}
		}
	})
}
