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
	if i = closingQuote(v, i); i >= len(v) {
		return len(v)
	}
	return i + 1
}

// skipContainer returns the index behind the container at i. Its brackets are
// known to match, so that they need only be counted, 8 bytes at a time.
func skipContainer(v []byte, i int) int {
	depth := 0
	for len(v)-i >= 8 {
		w, n := load(v, i), 8
		q := quote(w)
		if q != 0 {
			n = bits.TrailingZeros64(q) >> 3
			w &= 1<<(uint(n)*8) - 1
		}
		up, down := brackets(w)
		if down > 0 && down >= depth { // only perhaps: their order decides
			if end := closes(v[i:i+n], depth); end > 0 {
				return i + end
			}
		}
		depth += up - down
		if i += n; q != 0 {
			i = skipString(v, i+1)
		}
	}
	for i < len(v) {
		switch v[i] {
		case '"':
			i = skipString(v, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(v)
}

// closes returns the length of the part that closes all depth containers, or 0.
func closes(part []byte, depth int) int {
	for i, c := range part {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
