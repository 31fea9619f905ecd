package hashedit

import "strings"

// pythonLine is one logical line: it may span several lines by brackets,
// backslashes or triple quotes.
type pythonLine struct {
	first, last int
	indent      int
	opens       bool // ends in a colon
}

// pythonBlock returns the last line of the statement that starts on line n: a
// compound statement with its indented block, or one that spans several lines.
func pythonBlock(lines []string, n int) (last int, err error) {
	logical, err := pythonLines(lines)
	if err != nil {
		return 0, err
	}
	for i, l := range logical {
		if l.first != n {
			continue
		}
		last = l.last
		if l.opens {
			for _, next := range logical[i+1:] {
				if next.indent <= l.indent {
					break
				}
				last = next.last
			}
		}
		if last == n {
			return 0, errNoBlock
		}
		return last, nil
	}
	return 0, errNoBlock
}

// pythonLines cuts a text into logical lines, without blank and comment lines.
// Open brackets or quotes at the end, and wrong closers, are syntax errors.
func pythonLines(lines []string) ([]pythonLine, error) {
	var out []pythonLine
	s := pythonScanner{}
	var cur *pythonLine
	for i, line := range lines {
		if cur == nil {
			word := strings.TrimSpace(line)
			if word == "" || word[0] == '#' {
				continue
			}
			cur = &pythonLine{first: i + 1, indent: pythonIndent(line)}
			s.lastByte = 0
		}
		goesOn, ok := s.scan(line)
		if !ok {
			return nil, errSyntax
		}
		if goesOn {
			continue
		}
		cur.last, cur.opens = i+1, s.lastByte == ':'
		out = append(out, *cur)
		cur = nil
	}
	if cur != nil {
		return nil, errSyntax
	}
	return out, nil
}

// pythonIndent counts columns; a tab goes on to the next multiple of eight.
func pythonIndent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// pythonScanner follows brackets and quotes over lines.
type pythonScanner struct {
	brackets []byte // closers that are due
	triple   string // the quotes that end a long string
	lastByte byte   // last one that is neither blank nor in a comment
}

// scan reads one line and reports whether the logical line goes on.
func (s *pythonScanner) scan(line string) (goesOn, ok bool) {
	for i := 0; i < len(line); i++ {
		c := line[i]
		if s.triple != "" {
			if c == '\\' {
				i++
			} else if strings.HasPrefix(line[i:], s.triple) {
				i += 2
				s.triple = ""
				s.lastByte = '"'
			}
			continue
		}
		switch c {
		case '#':
			i = len(line)
			continue
		case '"', '\'':
			n, closed := s.quoted(line[i:])
			if !closed {
				return false, false
			}
			i += n - 1
		case '(', '[', '{':
			s.brackets = append(s.brackets, map[byte]byte{'(': ')', '[': ']', '{': '}'}[c])
		case ')', ']', '}':
			if len(s.brackets) == 0 || s.brackets[len(s.brackets)-1] != c {
				return false, false
			}
			s.brackets = s.brackets[:len(s.brackets)-1]
		case '\\':
			if i == len(line)-1 {
				return true, true
			}
		}
		if c != ' ' && c != '\t' && c != '\f' {
			s.lastByte = c
		}
	}
	return s.triple != "" || len(s.brackets) > 0, true
}

// quoted returns the length of a string at the start of line; an opening triple
// quote only. closed is false for a short string without its end.
func (s *pythonScanner) quoted(line string) (n int, closed bool) {
	if q := strings.Repeat(line[:1], 3); strings.HasPrefix(line, q) {
		s.triple = q
		return 3, true
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			if i == len(line)-1 {
				return 0, false // a string over two lines by a backslash: rare, refused
			}
			i++
		case line[0]:
			return i + 1, true
		}
	}
	return 0, false
}
