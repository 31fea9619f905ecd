package jsonscan

import "strconv"

// maxExponent is the decimal exponent of the largest float64, 1.8e308: so many
// digits without an exponent never overflow.
const maxExponent = 308

func digit(c byte) bool { return c-'0' < 10 }

// number scans a number at i.
func (s *scanner) number(i int) int {
	data, start := s.data, i
	if data[i] == '-' {
		i++
	}
	if i >= len(data) || !digit(data[i]) {
		return s.failHere(ErrSyntax, i)
	}
	if data[i] == '0' {
		return s.fraction(start, i+1)
	}
	return s.fraction(start, digits(data, i))
}

// fraction scans what follows the whole part, which goes from start to i.
func (s *scanner) fraction(start, i int) int {
	data := s.data
	large := i-start > maxExponent
	if i < len(data) && data[i] == '.' {
		i++
		if i >= len(data) || !digit(data[i]) {
			return s.failHere(ErrSyntax, i)
		}
		i = digits(data, i)
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i >= len(data) || !digit(data[i]) {
			return s.failHere(ErrSyntax, i)
		}
		first := i
		i = digits(data, i)
		// Two digits shift the point by 99 places at most.
		large = i-first > 2 || i-start > maxExponent-100
	}
	if large && !s.AnyNumber && overflows(data[start:i]) {
		return s.failHere(ErrNumber, i)
	}
	return i
}

// digits returns the index of the first byte at or after i that is no digit.
func digits(data []byte, i int) int {
	for uint(i) < uint(len(data)) && digit(data[i]) {
		i++
	}
	return i
}

// more reports whether a number goes on behind its whole part, which ends before i.
func more(data []byte, i int) bool {
	return uint(i) < uint(len(data)) && (data[i] == '.' || data[i]|0x20 == 'e')
}

// overflows reports whether a number in JSON form lies beyond float64.
func overflows(num []byte) bool {
	_, err := strconv.ParseFloat(string(num), 64)
	return err != nil
}
