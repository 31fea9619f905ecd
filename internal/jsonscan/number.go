package jsonscan

import "strconv"

// maxExponent is the decimal exponent of the largest float64, 1.8e308.
const maxExponent = 308

func digit(c byte) bool { return c-'0' < 10 }

// number scans a number at i.
func (s *scanner) number(i int) int {
	data, start := s.data, i
	if data[i] == '-' {
		i++
	}
	first := i
	if i >= len(data) || !digit(data[i]) {
		return s.failHere(ErrSyntax, i)
	}
	i++
	if data[first] != '0' {
		for i < len(data) && digit(data[i]) {
			i++
		}
	}
	whole := i
	if i < len(data) && data[i] == '.' {
		i++
		if i >= len(data) || !digit(data[i]) {
			return s.failHere(ErrSyntax, i)
		}
		for i < len(data) && digit(data[i]) {
			i++
		}
	}
	if i >= len(data) || data[i]|0x20 != 'e' {
		if whole-first > maxExponent && !s.AnyNumber && overflows(data[start:i]) {
			return s.failHere(ErrNumber, i)
		}
		return i
	}
	if i = s.exponent(i + 1); i >= 0 && !s.AnyNumber && overflows(data[start:i]) {
		return s.failHere(ErrNumber, i)
	}
	return i
}

// exponent scans what follows the letter e.
func (s *scanner) exponent(i int) int {
	data := s.data
	if i < len(data) && (data[i] == '+' || data[i] == '-') {
		i++
	}
	if i >= len(data) || !digit(data[i]) {
		return s.failHere(ErrSyntax, i)
	}
	for i < len(data) && digit(data[i]) {
		i++
	}
	return i
}

// overflows reports whether a number in JSON form lies beyond float64.
func overflows(num []byte) bool {
	_, err := strconv.ParseFloat(string(num), 64)
	return err != nil
}
