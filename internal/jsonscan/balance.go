package jsonscan

import (
	"bytes"
	"math/bits"
)

// balanced counts on from i, where depth brackets are open.
func balanced(data []byte, i, depth, limit int, inString bool) bool {
	for len(data)-i >= 8 {
		w, n := load(data, i), 8
		switch {
		case inString:
			m := quoteOrBackslash(w)
			at := i + bits.TrailingZeros64(m)>>3 // i + 8 if there is none
			if m == 0 || data[at] == '\\' {
				i = nextQuote(data, at)
				continue
			}
		case w == ' '*ones:
			i = spaces(data, i)
			continue
		}
		b := lowest(w ^ '\\'*ones)
		if b != 0 {
			n = bits.TrailingZeros64(b) >> 3
			w &= 1<<(uint(n)*8) - 1
		}
		w, inString = outside(w, inString)
		if up, down := brackets(w); up|down != 0 {
			levels := levels(up, down)
			if !within(levels, depth, limit) {
				return false
			}
			depth += int(levels>>56) - level0
		}
		if i += n; b != 0 && inString {
			i = escapes(data, i)
		} else if b != 0 {
			i++
		}
	}
	return balancedTail(data, i, depth, limit, inString)
}

func balancedTail(data []byte, i, depth, limit int, inString bool) bool {
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString:
			up, down := brackets(uint64(c))
			if depth += int(up) - int(down); depth < 0 || depth > limit {
				return false
			}
		}
	}
	return depth == 0 && !inString
}

// level0 stands for no change in a byte of levels.
const level0 = 8

// levels returns in each byte by how much the brackets up to there change the
// depth, plus level0.
func levels(up, down uint64) uint64 { return up*ones + level0*ones - down*ones }

// within reports whether the depth, from which on levels go, never falls below
// 0 nor passes limit.
func within(levels uint64, depth, limit int) bool {
	least, most := uint64(max(level0-depth, 0)), uint64(min(level0+limit-depth, 127))
	return ((levels|highs)-least*ones)&((most*ones|highs)-levels)&highs == highs
}

// escapes steps over the escapes in a string that follow one another from the
// backslash at i on: two bytes each, whatever the second one is. Those of a
// well-formed \uXXXX may go with them.
func escapes(data []byte, i int) int {
	for i < len(data) && data[i] == '\\' {
		if i += 2; i <= len(data) && data[i-1] == 'u' && unit(data, i-2) >= 0 {
			i += 4
		}
	}
	return i
}

// nextQuote returns the index of the quote that ends the string around i, which
// is no place inside of an escape, or one behind the end. It looks for quotes
// only, which bytealg does several words at a time, and then at what stands
// before one: backslashes come in pairs unless the last one belongs to the quote.
// Escapes that follow such a quote are stepped over: looking for each one's quote
// anew made long runs of them ten times slower.
func nextQuote(data []byte, i int) int {
	for i < len(data) {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			break
		}
		quote := i + n
		first := quote
		for first > i && data[first-1] == '\\' {
			first--
		}
		if (quote-first)&1 == 0 {
			return quote
		}
		i = escapes(data, quote+1)
	}
	return max(i, len(data))
}

// first returns the index of the lowest byte that is set in four words in a row.
func first(a, b, c, d uint64) int {
	switch {
	case a != 0:
		return bits.TrailingZeros64(a) >> 3
	case b != 0:
		return 8 + bits.TrailingZeros64(b)>>3
	case c != 0:
		return 16 + bits.TrailingZeros64(c)>>3
	}
	return 24 + bits.TrailingZeros64(d)>>3
}

// lowest sets the high bit of the lowest byte of x that is 0, and perhaps of
// bytes above it; 0 if there is none.
func lowest(x uint64) uint64 { return (x - ones) & ^x & highs }

// quoteOrBackslash is lowest for these two.
func quoteOrBackslash(w uint64) uint64 {
	return (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)) & ^w & highs
}

// outside blanks the bytes of w that lie in strings. Multiplying by ones gives
// each byte the number of quotes up to it, of which the lowest bit counts.
func outside(w uint64, inString bool) (blanked uint64, inStringAfter bool) {
	x := w ^ '"'*ones
	quotes := (^((x&^highs + 0x7f*ones) | x) & highs) >> 7 * ones
	if inString {
		quotes += ones
	}
	return w &^ ((quotes & ones) * 0xff), quotes>>56&1 != 0
}

// brackets sets the lowest bit of each byte of up that is an opening bracket in
// w, and of down for a closing one. With bits 1, 2 and 5 set, all four are
// 0x7f, and so are Y, y, _ and DEL. Of bits 1 and 2, an opening one has the
// first only, a closing one the second only, Y and y none, _ and DEL both.
func brackets(w uint64) (up, down uint64) {
	x := (w | 0x26*ones) ^ 0x7f*ones
	m := ^((x&^highs + 0x7f*ones) | x) >> 7 & ones
	return m & (w >> 1) &^ (w >> 2), m & (w >> 2) &^ (w >> 1)
}
