package jsonscan

import (
	"math/rand/v2"
	"testing"
)

// The ends of strings, and of what they stand in, are where a look at every
// byte in its turn finds them: from each place of bytes that are mostly quotes
// and backslashes, cut off anywhere.
func TestStringsEndWhereEachByteSays(t *testing.T) {
	parts := []string{`"`, `\`, `\\`, `\"`, `{`, `}`, `[`, `]`, `a`, `u`, `\u12aF`, `\u00`, "\x00", "\xff", "        ", "a longer part without any of them "}
	r := rand.New(rand.NewPCG(11, 5))
	for range 3000 {
		var b []byte
		from, kinds := r.IntN(len(parts)), 1+r.IntN(len(parts))
		for range r.IntN(40) {
			b = append(b, parts[(from+r.IntN(kinds))%len(parts)]...)
		}
		for i := range len(b) + 1 {
			if got, want := skipString(b, i), stringEnd(b, i); got != want {
				t.Fatalf("a string in %q from %d on ends at %d, not %d", b, i, got, want)
			}
		}
		for _, limit := range []int{0, 3, 100} {
			if got, want := balanced(b, 0, 0, limit, false), balancedTail(b, 0, 0, limit, false); got != want {
				t.Fatalf("balanced with %d levels: %q: %v, not %v", limit, b, got, want)
			}
		}
	}
}

func stringEnd(v []byte, i int) int {
	for ; i < len(v); i++ {
		switch v[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(v)
}
