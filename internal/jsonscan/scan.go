package jsonscan

// scanner checks bytes that are already known to be valid UTF-8.
type scanner struct {
	Options
	data  []byte
	max   int
	depth int // containers open around the value that is scanned next

	// Set when something was refused: data[:at] was read, and after it depth
	// containers were open, and a string if inString. That is enough to go on
	// with the looser count of Balanced from there.
	err      error
	at       int
	inString bool
}

// kinds is a stack of bits, 1 for an object, the innermost lowest.
type kinds struct{ lo, hi uint64 }

func (k kinds) push(object uint64) kinds {
	return kinds{k.lo<<1 | object, k.hi<<1 | k.lo>>63}
}

func (k kinds) pop() kinds {
	return kinds{k.lo>>1 | k.hi<<63, k.hi >> 1}
}

func (k kinds) object() bool { return k.lo&1 != 0 }

// closer is the bracket that ends the innermost container: '}' is ']' + 32.
func (k kinds) closer() byte { return ']' + byte(k.lo&1)<<5 }

// value scans one value at or behind the white space at i. It returns the index
// behind it, or -1 with the fields of s set.
func (s *scanner) value(i int) int {
	data, base, depth := s.data, s.depth, s.depth
	var k kinds
	for {
		i = space(data, i)
		if i >= len(data) {
			return s.fail(ErrSyntax, i, depth)
		}
		switch c := data[i]; c {
		case '"':
			i = s.str(i + 1)
		case '{', '[':
			if depth == s.max {
				return s.fail(ErrDepth, i, depth)
			}
			j := space(data, i+1)
			if j < len(data) && data[j] == c+2 { // '}' is '{' + 2, ']' is '[' + 2
				i = j + 1
				break
			}
			depth++
			k = k.push(uint64(c>>5) & 1)
			i = j
			if c == '[' {
				continue
			}
			if i = s.key(j); i < 0 {
				s.depth = depth
				return -1
			}
			continue
		default:
			i = s.scalar(i)
		}
		if i < 0 {
			s.depth = depth
			return -1
		}
		for { // a value has ended: close what ends with it
			if depth == base {
				return i
			}
			i = space(data, i)
			if i >= len(data) {
				return s.fail(ErrSyntax, i, depth)
			}
			c := data[i]
			if c == ',' {
				break
			}
			if c != k.closer() {
				return s.fail(ErrSyntax, i, depth)
			}
			i++
			depth--
			k = k.pop()
		}
		i++
		if k.object() {
			if i = s.key(i); i < 0 {
				s.depth = depth
				return -1
			}
		}
	}
}

func (s *scanner) fail(err error, at, depth int) int {
	s.err, s.at, s.depth = err, at, depth
	return -1
}

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
	i = space(s.data, i)
	if i >= len(s.data) || s.data[i] != '"' {
		return s.failHere(ErrSyntax, i)
	}
	if i = s.str(i + 1); i < 0 {
		return -1
	}
	i = space(s.data, i)
	if i >= len(s.data) || s.data[i] != ':' {
		return s.failHere(ErrSyntax, i)
	}
	return i + 1
}

// scalar scans a literal or a number.
func (s *scanner) scalar(i int) int {
	word := "null"
	switch s.data[i] {
	case 'n':
	case 't':
		word = "true"
	case 'f':
		word = "false"
	default:
		return s.number(i)
	}
	if len(s.data)-i < len(word) || string(s.data[i:i+len(word)]) != word {
		return s.failHere(ErrSyntax, i)
	}
	return i + len(word)
}

// space returns the index of the first byte at or after i that is no JSON white space.
func space(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return spaces(data, i)
}

func spaces(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch data[i] {
		case ' ', '\n', '\r', '\t':
		default:
			return i
		}
	}
	return i
}
