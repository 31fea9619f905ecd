package jsonscan

import "math/bits"

// skip returns the index behind the valid value at i.
func skip(v []byte, i int) int {
	if i >= len(v) {
		return i
	}
	switch v[i] {
	case '"':
		return skipString(v, i+1)
	case '{', '[':
		return skipContainer(v, i)
	}
	for i < len(v) {
		switch v[i] {
		case ',', ']', '}', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

// skipString returns the index behind the quote that ends the string around i.
func skipString(v []byte, i int) int {
	return min(nextQuote(v, i)+1, len(v))
}

// skipContainer returns the index behind the container at i. Its brackets are
// known to match, so that they need only be counted, 8 bytes at a time.
func skipContainer(v []byte, i int) int {
	depth, inString := 1, false
	for i++; len(v)-i >= 8; {
		w, n := load(v, i), 8
		if inString {
			m := quoteOrBackslash(w)
			at := i + bits.TrailingZeros64(m)>>3 // i + 8 if there is none
			if m == 0 || v[at] == '\\' {
				i = nextQuote(v, at)
				continue
			}
		}
		b := lowest(w ^ '\\'*ones)
		if b != 0 {
			n = bits.TrailingZeros64(b) >> 3
			w &= 1<<(uint(n)*8) - 1
		}
		w, inString = outside(w, inString)
		if up, down := brackets(w); up|down != 0 {
			levels := levels(up, down)
			if depth <= level0 {
				if m := lowest(levels ^ uint64(level0-depth)*ones); m != 0 {
					return i + bits.TrailingZeros64(m)>>3 + 1
				}
			}
			depth += int(levels>>56) - level0
		}
		if i += n; b != 0 && inString {
			i = escapes(v, i)
		} else if b != 0 {
			i++
		}
	}
	return skipTail(v, i, depth, inString)
}

func skipTail(v []byte, i, depth int, inString bool) int {
	for ; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString:
			up, down := brackets(uint64(c))
			if depth += int(up) - int(down); depth == 0 {
				return i + 1
			}
		}
	}
	return len(v)
}
