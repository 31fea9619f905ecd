package jsonscan

import (
	"math/bits"
	"unsafe"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load returns the 8 bytes at i, the first one lowest. It needs 0 <= i and
// i+8 <= len(data), which it does not check: a checked load is too large to be
// put inside the loops that live from it.
func load(data []byte, i int) uint64 {
	w := *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), i))
	if bigEndian {
		return bits.ReverseBytes64(w)
	}
	return w
}

// special sets the high bit of each byte of w that a string scan must look at:
// the quote, the backslash and control bytes. Only the lowest one is exact.
// Exclusive or with 2 swaps the quote (0x22) with the space (0x20), so that one
// comparison with 0x21 finds it together with the control bytes.
func special(w uint64) uint64 {
	return (((w ^ 0x02*ones) - 0x21*ones) | ((w ^ 0x5c*ones) - ones)) & ^w & highs
}
