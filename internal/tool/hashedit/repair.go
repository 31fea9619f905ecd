package hashedit

import (
	"fmt"
	"slices"
	"strings"
)

// mendSwap drops rows that only repeat the lines around the range: tools.md
// 1.9.3. The first rule that fits wins, and adds a warning.
func (p *plan) mendSwap(d document, o op) []string {
	rows := o.body
	if len(rows) == 0 {
		return nil
	}
	above, below := d.lines[:o.first-1], d.lines[o.last:]
	top, bottom := overlapAbove(rows, above), overlapBelow(rows, below)
	diff := balance(rows) - balance(d.lines[o.first-1:o.last])
	warn := func(n int, where string) {
		p.warnings = append(p.warnings, fmt.Sprintf("SWAP %d.=%d: %d row(s) that repeat the lines %s the range were dropped", o.first, o.last, n, where))
	}
	if top > 0 && bottom > 0 && top+bottom < len(rows) {
		if b := balance(rows[:top]) + balance(rows[len(rows)-bottom:]); b == 0 || b == diff {
			warn(top+bottom, "around")
			return rows[top : len(rows)-bottom]
		}
	}
	if diff == 0 {
		return oneSide(rows, top, bottom, o.last > o.first, warn)
	}
	for n := bottom; n > 0; n-- {
		if n < len(rows) && balance(rows[len(rows)-n:]) == diff {
			warn(n, "below")
			return rows[:len(rows)-n]
		}
	}
	for n := top; n > 0; n-- {
		if n < len(rows) && balance(rows[:n]) == diff {
			warn(n, "above")
			return rows[n:]
		}
	}
	return rows
}

// oneSide drops the rows that repeat one side only, when brackets are balanced
// with and without them.
func oneSide(rows []string, top, bottom int, several bool, warn func(int, string)) []string {
	switch {
	case top > 0 && bottom == 0 && top < len(rows):
		if balance(rows[:top]) == 0 && several {
			warn(top, "above")
			return rows[top:]
		}
	case bottom > 0 && top == 0 && bottom < len(rows):
		tail := rows[len(rows)-bottom:]
		if balance(tail) == 0 && several || balance(tail) == 0 && !slices.ContainsFunc(tail, func(s string) bool { return !closerOnly(s) }) {
			warn(bottom, "below")
			return rows[:len(rows)-bottom]
		}
	}
	return rows
}

// overlapAbove is the largest number of first rows that equal the last lines above.
func overlapAbove(rows, above []string) int {
	for n := min(len(rows), len(above)); n > 0; n-- {
		if slices.Equal(rows[:n], above[len(above)-n:]) {
			return n
		}
	}
	return 0
}

// overlapBelow is the largest number of last rows that equal the first lines below.
func overlapBelow(rows, below []string) int {
	for n := min(len(rows), len(below)); n > 0; n-- {
		if slices.Equal(rows[len(rows)-n:], below[:n]) {
			return n
		}
	}
	return 0
}

// balance counts opening minus closing brackets outside of quotes and comments
// (//, /* */).
func balance(lines []string) int {
	n := 0
	comment := false
	for _, line := range lines {
		var quote byte
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case comment:
				if c == '*' && i+1 < len(line) && line[i+1] == '/' {
					comment = false
					i++
				}
			case quote != 0:
				if c == '\\' {
					i++
				} else if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'' || c == '`':
				quote = c
			case c == '/' && i+1 < len(line) && line[i+1] == '/':
				i = len(line)
			case c == '/' && i+1 < len(line) && line[i+1] == '*':
				comment = true
				i++
			case c == '(' || c == '[' || c == '{':
				n++
			case c == ')' || c == ']' || c == '}':
				n--
			}
		}
	}
	return n
}

// closerOnly reports whether a line holds nothing but closing brackets, perhaps
// with a comma or semicolon.
func closerOnly(line string) bool {
	s := strings.TrimRight(strings.TrimSpace(line), ",;")
	return s != "" && strings.Trim(s, ")]}") == ""
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// commonIndent is the least indent of rows that are not blank; -1 without any.
func commonIndent(rows []string) int {
	least := -1
	for _, r := range rows {
		if strings.TrimSpace(r) != "" && (least < 0 || indent(r) < least) {
			least = indent(r)
		}
	}
	return least
}

// landing is the line after which an INS.POST puts its rows. Rows that are
// shallower than their anchor go past the closing lines that follow it, down to
// their own depth.
func (p *plan) landing(d document, o op, targets map[int]bool) int {
	depth := commonIndent(o.body)
	if depth < 0 || depth >= indent(d.lines[o.first-1]) || strings.TrimSpace(d.lines[o.first-1]) == "" {
		return o.first
	}
	n := o.first
	for n < len(d.lines) && closerOnly(d.lines[n]) && indent(d.lines[n]) >= depth && !targets[n+1] {
		n++
	}
	if n != o.first {
		p.warnings = append(p.warnings, fmt.Sprintf("INS.POST %d: the rows were put after line %d, past the closing lines, to fit their indent", o.first, n))
	}
	return n
}
