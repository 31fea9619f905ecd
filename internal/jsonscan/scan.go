package jsonscan

import "math/bits"

// scanner checks bytes that are already known to be valid UTF-8.
type scanner struct {
	Options
	data  []byte
	max   int
	depth int // containers open around the value that is scanned next

	// The containers of that value are a stack of words. The innermost one
	// belongs to container, full ones below it lie here.
	outer [MaxDepth / wordDepth]uint64
	words int
	limit uint64 // from this value on the innermost word takes no more

	// Set when something was refused: data[:at] was read, and after it depth
	// containers were open, and a string if inString. That is enough to go on
	// with the looser count of Balanced from there.
	err      error
	at       int
	inString bool
}

// value scans the value at i, which is no white space, and returns the index
// behind it, or -1 with the fields of s set.
func (s *scanner) value(i int) int {
	if i >= len(s.data) {
		return s.failHere(ErrSyntax, i)
	}
	switch s.data[i] {
	case '"':
		return s.str(i + 1)
	case '{', '[':
		if last := s.data[len(s.data)-1]; last != '}' && last != ']' {
			return s.failHere(ErrSyntax, i)
		}
		return s.container(i)
	}
	return s.scalar(i)
}

// container scans the object or array at i. The last byte of the data has to be
// a closing bracket: it lies behind every token but itself, so that the end of
// the data is looked for behind closing brackets only.
//
// It is one function because it is the hot one: a call in the common path of a
// value puts its locals on the stack and back, which costs as much as the work.
// For the same reason k says all about the open containers: below a leading 1,
// a bit for each, 0 for an object, the innermost lowest.
func (s *scanner) container(i int) int {
	data, k := s.data, uint64(1)
	s.words, s.limit = 0, s.wordLimit()
	for {
		if k&1 == 0 { // a key and its colon
			if data[i] <= ' ' {
				if i++; data[i] <= ' ' || data[i-1] != ' ' {
					i = spaces(data, i-1)
				}
			}
			if data[i] != '"' {
				return s.fail(ErrSyntax, i, k)
			}
			i++
			i += bits.TrailingZeros64(word(data, i)) >> 3
			if data[i] == '"' {
				i++
			} else if i = s.str(i); i < 0 {
				return s.fail(s.err, s.at, k)
			}
			if data[i] <= ' ' {
				i = spaces(data, i)
			}
			if data[i] != ':' {
				return s.fail(ErrSyntax, i, k)
			}
			i++
		}
		if data[i] <= ' ' {
			if i++; data[i] <= ' ' || data[i-1] != ' ' { // mostly, it is one space
				i = spaces(data, i-1)
			}
		}
		switch c := data[i]; {
		case c == '"':
			i++
			i += bits.TrailingZeros64(word(data, i)) >> 3
			if data[i] == '"' {
				i++
			} else {
				i = s.str(i)
			}
		case c|0x20 == '{':
			if k >= s.limit {
				if k = s.deeper(i, k); k == 0 {
					return -1
				}
			}
			if i++; data[i] <= ' ' {
				i = spaces(data, i)
			}
			if data[i] != c+2 { // '}' is '{' + 2, ']' is '[' + 2
				k = k<<1 | uint64(^c>>5)&1
				continue
			}
			if i++; k == 1 {
				if s.words == 0 {
					return i
				}
				k = s.shallower()
			}
		case digit(c) && c != '0':
			end := digits(data, i)
			if more(data, end) || end-i > maxExponent {
				end = s.fraction(i, end)
			}
			i = end
		default:
			i = s.scalar(i)
		}
		if uint(i) < uint(len(data)) && data[i] == ',' {
			i++
		} else if i, k = s.closing(i, k); k <= 1 {
			return i
		}
	}
}

// closing closes what ends at i, and takes the comma behind it. It returns k =
// 1 when the outermost container is closed, and 0 with -1 when something was refused.
func (s *scanner) closing(i int, k uint64) (behind int, word uint64) {
	if i < 0 {
		return s.fail(s.err, s.at, k), 0
	}
	data := s.data
	for {
		if i = space(data, i); i >= len(data) {
			return s.fail(ErrSyntax, i, k), 0
		}
		c := data[i]
		if c == ',' {
			return i + 1, k
		}
		if c != closer(k) {
			return s.fail(ErrSyntax, i, k), 0
		}
		i++
		if k >>= 1; k > 1 {
			continue
		}
		if s.words == 0 {
			return i, k
		}
		k = s.shallower()
	}
}

// closer is the bracket that closes the innermost container: ']' is '}' - 32.
func closer(k uint64) byte { return '}' - byte(k&1)<<5 }

// A word of open containers holds 62 of them below the leading 1.
const wordDepth = 62

func (s *scanner) wordLimit() uint64 {
	return 1 << min(s.max-s.depth-s.words*wordDepth, wordDepth)
}

// deeper puts a full word of containers aside and returns an empty one, or 0
// if the container that opens at i is one too many.
func (s *scanner) deeper(i int, k uint64) (word uint64) {
	if s.depth+s.words*wordDepth+bits.Len64(k)-1 >= s.max {
		s.fail(ErrDepth, i, k)
		return 0
	}
	s.outer[s.words] = k
	s.words++
	s.limit = s.wordLimit()
	return 1
}

// shallower takes back the word that deeper put aside last.
func (s *scanner) shallower() (word uint64) {
	s.words--
	s.limit = s.wordLimit()
	return s.outer[s.words]
}

// fail refuses what is at the index at, inside of the containers in k.
func (s *scanner) fail(err error, at int, k uint64) int {
	s.err, s.at = err, at
	s.depth += s.words*wordDepth + bits.Len64(k) - 1
	return -1
}

// failHere refuses what is at the index at; its caller knows the containers.
func (s *scanner) failHere(err error, at int) int {
	s.err, s.at = err, at
	return -1
}

func (s *scanner) failInString(err error, at int) int {
	s.err, s.at, s.inString = err, at, true
	return -1
}

// key scans a key and its colon, and returns the index behind the colon.
func (s *scanner) key(i int) int {
	data := s.data
	if i = space(data, i); i >= len(data) || data[i] != '"' {
		return s.failHere(ErrSyntax, i)
	}
	if i = s.str(i + 1); i < 0 {
		return -1
	}
	if i = space(data, i); i >= len(data) || data[i] != ':' {
		return s.failHere(ErrSyntax, i)
	}
	return i + 1
}

// scalar scans a literal or a number.
func (s *scanner) scalar(i int) int {
	rest := s.data[i:]
	switch rest[0] {
	case 'n':
		if len(rest) >= 4 && string(rest[:4]) == "null" {
			return i + 4
		}
	case 't':
		if len(rest) >= 4 && string(rest[:4]) == "true" {
			return i + 4
		}
	case 'f':
		if len(rest) >= 5 && string(rest[:5]) == "false" {
			return i + 5
		}
	default:
		return s.number(i)
	}
	return s.failHere(ErrSyntax, i)
}

// space returns the index of the first byte at or after i that is no JSON white space.
func space(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return spaces(data, i)
}

// spaces is space for what begins with white space, or with bytes below it.
func spaces(data []byte, i int) int {
	for uint(i) < uint(len(data)) {
		for len(data)-i >= 8 {
			x := load(data, i) ^ ' '*ones
			if x != 0 {
				i += bits.TrailingZeros64(x) >> 3
				break
			}
			i += 8
		}
		if uint(i) >= uint(len(data)) {
			break
		}
		switch data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// trimEnd returns the index behind the last byte from i on that is no JSON white space.
func trimEnd(data []byte, i int) int {
	end := len(data)
	for end > i {
		switch data[end-1] {
		case ' ', '\n', '\r', '\t':
			end--
		default:
			return end
		}
		for end-8 >= i && load(data, end-8) == ' '*ones {
			end -= 8
		}
	}
	return end
}
