package redact

import (
	"math/rand/v2"
	"testing"
)

// TestFirstControl holds the search by words against the search by bytes: every
// byte at every place of a word, and random texts.
func TestFirstControl(t *testing.T) {
	plainly := func(s string) int {
		for i := range len(s) {
			if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b == 0x7f || b == 0xc2 && isC1(s, i) {
				return i
			}
		}
		return len(s)
	}
	check := func(s string) {
		t.Helper()
		if got, want := firstControl(s), plainly(s); got != want {
			t.Fatalf("%q: %d, want %d", s, got, want)
		}
	}
	fill := []byte{'x', '\n', '\t', 0x80, 0xc2, 0xff, 0x42, 0x1f}
	for _, f := range fill[:7] {
		for place := range 17 {
			for b := range 256 {
				s := make([]byte, 18)
				for i := range s {
					s[i] = f
				}
				s[place] = byte(b)
				check(string(s))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		s := make([]byte, r.IntN(40))
		for i := range s {
			if s[i] = fill[r.IntN(7)]; r.IntN(20) == 0 {
				s[i] = byte(r.IntN(256))
			}
		}
		check(string(s))
	}
}
