package jsonscan

// ObjectReader hands out the members of one object while it checks them, so
// that an envelope is checked and taken apart in one pass. Make it with
// ReadObject. It allocates nothing and is for one goroutine.
type ObjectReader struct {
	s    scanner
	pos  int  // index of the next byte to read
	step step // what is expected at pos
}

type step uint8

const (
	stepOpen   step = iota // white space, then {
	stepMember             // behind a member: a comma and another one, or }
	stepDone               // the value and the white space behind it were read
	stepFailed             // s.err says why, s.at where
)

// ReadObject begins to read data, which is to be exactly one object with
// nothing but white space around it. Nothing is refused before Next or Err.
func ReadObject(data []byte, o Options) ObjectReader {
	r := ObjectReader{s: scanner{data: data[:trimEnd(data, 0)], Options: o, max: o.depth()}}
	if !validUTF8(data) {
		r.s.err, r.step = ErrUTF8, stepFailed
	}
	return r
}

// Next returns the next member: key is a String value. ok is false behind the
// last one and when the bytes were refused, which Err tells apart. Members
// that were handed out are valid in themselves; what follows them may not be.
func (r *ObjectReader) Next() (key, value Value, ok bool) {
	s := &r.s
	i := space(s.data, r.pos)
	switch r.step {
	case stepOpen:
		if i >= len(s.data) || s.data[i] != '{' {
			return r.fail(i)
		}
		s.depth = 1
		i = space(s.data, i+1)
		r.step = stepMember
		if i < len(s.data) && s.data[i] == '}' {
			return r.finish(i + 1)
		}
	case stepMember:
		if i < len(s.data) && s.data[i] == '}' {
			return r.finish(i + 1)
		}
		if i >= len(s.data) || s.data[i] != ',' {
			return r.fail(i)
		}
		i++
	default:
		return nil, nil, false
	}
	return r.member(space(s.data, i))
}

// member reads the member at i.
func (r *ObjectReader) member(i int) (key, value Value, ok bool) {
	s := &r.s
	end := s.key(i)
	if end < 0 {
		r.step = stepFailed
		return nil, nil, false
	}
	from := space(s.data, end)
	to := s.value(from)
	if to < 0 {
		r.step = stepFailed
		return nil, nil, false
	}
	r.pos = to
	end = i + keyLen(s.data[i:end])
	return s.data[i:end:end], s.data[from:to:to], true
}

// keyLen returns the length of the string that starts key, of which the rest
// is white space and the colon.
func keyLen(key []byte) int {
	n := len(key) - 1
	for key[n-1] != '"' {
		n--
	}
	return n
}

func (r *ObjectReader) fail(i int) (key, value Value, ok bool) {
	r.s.failHere(ErrSyntax, i)
	r.step = stepFailed
	return nil, nil, false
}

// finish takes the closing bracket before i.
func (r *ObjectReader) finish(i int) (key, value Value, ok bool) {
	r.s.depth = 0
	r.pos = space(r.s.data, i)
	r.step = stepDone
	if r.pos != len(r.s.data) {
		return r.fail(r.pos)
	}
	return nil, nil, false
}

// Err returns why the bytes were refused, one of the package's sentinels, or
// nil as long as they were not.
func (r *ObjectReader) Err() error { return r.s.err }

// Balanced looks at the brackets only, of all the data, also of what was not
// read or is no JSON: outside of strings, opening ones of either kind count up
// and closing ones down; the count never passes Options.MaxDepth nor falls
// below zero, ends at zero, and not inside a string. A backslash in a string
// skips a byte. Where reading stopped, counting goes on, so that refused bytes
// are looked at no more often than accepted ones.
func (r *ObjectReader) Balanced() bool {
	if r.step != stepFailed {
		r.s.at, r.s.inString = r.pos, false
	}
	return balanced(r.s.data, r.s.at, r.s.depth, r.s.max, r.s.inString)
}
