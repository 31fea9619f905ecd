package preview

import (
	"fmt"

	"magicode/internal/tool/linediff"
)

// maxCompared bounds the lines that are compared, beside what is equal at both
// ends of a file.
const maxCompared = 60_000

// step is one line of a diff; indexes are from 0, -1 for none.
type step struct{ old, now int }

func (s step) kept() bool { return s.old >= 0 && s.now >= 0 }

// context is the number of unchanged lines around a change.
const context = 3

// compare lists the lines from a little before the first change to a little
// behind the last one. ok is false for texts that are too long to compare.
func compare(old, now lines) (script []step, ok bool) {
	a, b := old.raw, now.raw
	n := min(len(a), len(b))
	first, last := 0, 0
	for first < n && a[first] == b[first] {
		first++
	}
	for last < n-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	endA, endB := len(a)-last, len(b)-last
	if first == endA && first == endB {
		return nil, true
	}
	var pairs map[int]int
	if first < endA && first < endB {
		if endA+endB-2*first > maxCompared {
			return nil, false
		}
		pairs = linediff.Unchanged(a[first:endA], b[first:endB])
	}
	for i := max(0, first-context); i < first; i++ {
		script = append(script, step{i, i})
	}
	j := first
	for i := first; i < endA; i++ {
		to, kept := pairs[i-first+1]
		if !kept {
			script = append(script, step{i, -1})
			continue
		}
		for ; j < first+to-1; j++ {
			script = append(script, step{-1, j})
		}
		script = append(script, step{i, j})
		j++
	}
	for ; j < endB; j++ {
		script = append(script, step{-1, j})
	}
	for i := range min(context, last) {
		script = append(script, step{endA + i, endB + i})
	}
	return script, true
}

// hunk is a run of steps without a long unchanged part.
type hunk []step

// hunks leaves out what is far from any change.
func hunks(script []step) (out []hunk) {
	from, end := -1, 0 // of the open hunk; end is behind its last change
	flush := func() {
		if from >= 0 {
			out = append(out, hunk(script[from:min(len(script), end+context)]))
		}
	}
	for i, s := range script {
		if s.kept() {
			continue
		}
		if from < 0 || i-end > 2*context {
			flush()
			from = max(0, i-context)
		}
		end = i + 1
	}
	flush()
	return out
}

// rows are a hunk's lines under its header, at most limit.
func (h hunk) rows(old, now lines, limit int) []string {
	var firstOld, firstNow, countOld, countNow int
	for _, s := range h {
		if s.old >= 0 {
			if countOld++; countOld == 1 {
				firstOld = s.old + 1
			}
		}
		if s.now >= 0 {
			if countNow++; countNow == 1 {
				firstNow = s.now + 1
			}
		}
	}
	rows := []string{fmt.Sprintf("@@ -%d,%d +%d,%d @@", firstOld, countOld, firstNow, countNow)}
	for _, s := range h {
		if len(rows) >= limit {
			break
		}
		switch {
		case s.kept():
			rows = append(rows, now.row(" ", s.now)...)
		case s.old >= 0:
			rows = append(rows, old.row("-", s.old)...)
		default:
			rows = append(rows, now.row("+", s.now)...)
		}
	}
	return rows
}

// row is a line with its sign, and what stands for a missing line end.
func (l lines) row(sign string, i int) []string {
	if l.open && i == len(l.raw)-1 {
		return []string{sign + l.shown[i], `\ No newline at end of file`}
	}
	return []string{sign + l.shown[i]}
}
