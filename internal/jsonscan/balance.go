package jsonscan

import (
	"bytes"
	"math/bits"
)

// Balanced is ObjectReader.Balanced for data of which nothing was read.
func Balanced(data []byte, maxDepth int) bool {
	return balanced(data, 0, 0, maxDepth, false)
}

// balanced counts on from i, where depth brackets are open.
func balanced(data []byte, i, depth, limit int, inString bool) bool {
	c := counter{data: data, depth: depth, limit: limit}
	for {
		if inString {
			if i = closingQuote(data, i); i >= len(data) {
				return false
			}
			i++
		}
		if i = c.outside(i); i < 0 {
			return false
		}
		if i >= len(data) {
			return c.depth == 0
		}
		i++ // the quote
		inString = true
	}
}

type counter struct {
	data  []byte
	depth int
	limit int
}

// outside counts from i to the next quote, and returns its index, or the
// length of the data, or -1 where the count left its bounds.
func (c *counter) outside(i int) int {
	data, depth := c.data, c.depth
	for len(data)-i >= 8 {
		w := load(data, i)
		n := 8
		q := quote(w)
		if q != 0 {
			n = bits.TrailingZeros64(q) >> 3
			w &= 1<<(uint(n)*8) - 1
		}
		up, down := brackets(w)
		if (depth+up > c.limit || depth < down) && !c.within(data[i:i+n], depth) {
			return -1
		}
		depth += up - down
		i += n
		if q != 0 {
			c.depth = depth
			return i
		}
	}
	n := bytes.IndexByte(data[i:], '"')
	if n < 0 {
		n = len(data) - i
	}
	if !c.within(data[i:i+n], depth) {
		return -1
	}
	for _, b := range data[i : i+n] {
		up, down := brackets(uint64(b))
		depth += up - down
	}
	c.depth = depth
	return i + n
}

// within counts byte by byte, and reports whether the bounds hold.
func (c *counter) within(part []byte, depth int) bool {
	for _, b := range part {
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > c.limit || depth < 0 {
			return false
		}
	}
	return true
}

// quote sets the high bit of the lowest byte of w that is a quote, and perhaps
// of bytes above it; 0 if there is none.
func quote(w uint64) uint64 {
	x := w ^ '"'*ones
	return (x - ones) & ^x & highs
}

// brackets counts the opening and the closing brackets in w. With bits 1, 2 and
// 5 set, all four are 0x7f, and so are Y, y, _ and DEL. Of bits 1 and 2, an
// opening one has the first only, a closing one the second only, Y and y none,
// _ and DEL both.
func brackets(w uint64) (up, down int) {
	x := (w | 0x26*ones) ^ 0x7f*ones
	candidates := ^((x&^highs + 0x7f*ones) | x) & highs
	if candidates == 0 {
		return 0, 0
	}
	up64, down64 := candidates&(w<<6)&^(w<<5), candidates&(w<<5)&^(w<<6)
	return count(up64), count(down64)
}

// count returns how many bytes of m are 0x80; all others are 0.
func count(m uint64) int { return int((m >> 7) * ones >> 56) }

// closingQuote returns the index of the quote that ends the string around i,
// or at least the length of the data. A backslash skips a byte, whatever it is.
func closingQuote(data []byte, i int) int {
	for i < len(data) {
		if len(data)-i < 8 {
			switch data[i] {
			case '"':
				return i
			case '\\':
				i++
			}
			i++
			continue
		}
		w := load(data, i)
		m := (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)) & ^w & highs
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if data[i] == '"' {
			return i
		}
		for i += 2; i+1 < len(data) && data[i] == '\\'; {
			i += 2
		}
	}
	return i
}
