package capture

import (
	"slices"
	"strings"
)

// entry is a file of some capture in the folder.
type entry struct {
	name, stem string
	size       int64
}

// sweep removes the oldest captures until one more fits the bounds. Only files
// whose names are ours, that are regular, our own and of no live capture, are
// looked at. What cannot be removed stays.
func sweep(sys system, dir int, o Options) {
	var entries []entry
	for _, name := range sys.list(dir) {
		stem, ok := stemOf(name)
		if !ok || stem == o.Stem {
			continue
		}
		if size, ok := sys.own(dir, name); ok {
			entries = append(entries, entry{name, stem, size})
		}
	}
	var stems []string
	total := int64(0)
	for _, e := range entries {
		total += e.size
		if !slices.Contains(stems, e.stem) {
			stems = append(stems, e.stem)
		}
	}
	slices.Sort(stems) // they begin with their time
	count := len(stems)
	for _, stem := range stems {
		if count+1 <= o.Keep && total+o.MaxBytes <= o.TotalBytes {
			return
		}
		if sys.inUse(dir, stem+".logs.jsonl") {
			continue
		}
		for _, e := range entries {
			if e.stem == stem {
				sys.remove(dir, e.name)
				total -= e.size
			}
		}
		count--
	}
}

// stemOf returns the capture that a file belongs to:
// mc-\d{8}T\d{6}Z-\d+-[0-9a-f]{8} followed by .<signal>(.\d{1,4})?.jsonl or .runtime.trace
func stemOf(name string) (string, bool) {
	stem, rest, ok := strings.Cut(name, ".")
	if !ok || !validStem(stem) {
		return "", false
	}
	if "."+rest == traceEnd {
		return stem, true
	}
	rest, ok = strings.CutSuffix(rest, ".jsonl")
	signal, number, numbered := strings.Cut(rest, ".")
	if !ok || !slices.Contains(signalNames[:], signal) || numbered && !digits(number, 1, 4) {
		return "", false
	}
	return stem, true
}

func validStem(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "mc" || !digits(parts[2], 1, 20) {
		return false
	}
	when, tag := parts[1], parts[3]
	return len(when) == 16 && digits(when[:8], 8, 8) && when[8] == 'T' && digits(when[9:15], 6, 6) && when[15] == 'Z' &&
		len(tag) == 8 && strings.Trim(tag, "0123456789abcdef") == ""
}

func digits(s string, low, high int) bool {
	return len(s) >= low && len(s) <= high && strings.Trim(s, "0123456789") == ""
}
