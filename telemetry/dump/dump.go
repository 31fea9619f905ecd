// Package dump says where every goroutine stands, without anything that a user
// wrote (telemetry.md 5.5).
package dump

import (
	"runtime"
	"strconv"
	"strings"
)

// Bounds of a dump (telemetry.md 5.5).
const (
	maxRaw      = 1 << 20
	maxRoutines = 256
	maxFrames   = 64
	maxLength   = 256 << 10
)

// Goroutines is the state, functions, file names and lines of at most 256
// goroutines, 64 frames each, in at most 256 KiB. It stops the process for a
// moment: milliseconds for hundreds of goroutines.
func Goroutines() string {
	buf := make([]byte, maxRaw)
	return clean(string(buf[:runtime.Stack(buf, true)]))
}

// clean keeps states, functions, file names and lines. Arguments, addresses
// and folders are dropped, and goroutines that stand alike become one.
func clean(raw string) string {
	type stack struct {
		header, frames string
		count          int
	}
	var stacks []*stack
	seen := make(map[string]*stack)
	for n, block := range strings.Split(strings.TrimSpace(raw), "\n\n") {
		if n >= maxRoutines {
			break
		}
		header, frames := cleanStack(block)
		state := header[strings.IndexByte(header, '[')+1:]
		if s := seen[state+frames]; s != nil {
			s.count++
			continue
		}
		s := &stack{header, frames, 1}
		seen[state+frames] = s
		stacks = append(stacks, s)
	}
	var b strings.Builder
	for _, s := range stacks {
		if b.Len()+len(s.header)+len(s.frames) > maxLength-16 {
			break
		}
		b.WriteString(s.header)
		if s.count > 1 {
			b.WriteString(" ×" + strconv.Itoa(s.count))
		}
		b.WriteByte('\n')
		b.WriteString(s.frames)
		b.WriteByte('\n')
	}
	return b.String()
}

// cleanStack cleans one goroutine. Lines come in pairs: a function, a place.
func cleanStack(block string) (header, frames string) {
	lines := strings.Split(block, "\n")
	header = strings.TrimSuffix(lines[0], ":")
	if i := strings.IndexByte(header, ']'); i >= 0 {
		header = header[:i+1]
	}
	var b strings.Builder
	for i := 1; i+1 < len(lines) && i < 2*maxFrames; i += 2 {
		b.WriteString("  " + cleanFunction(lines[i]) + " " + cleanPlace(lines[i+1]) + "\n")
	}
	return header, b.String()
}

// cleanFunction cuts at the last bracket, so that a method keeps its receiver,
// and keeps of the package path its last part.
func cleanFunction(line string) string {
	created, ok := strings.CutPrefix(line, "created by ")
	name, _, _ := strings.Cut(created, " in goroutine")
	if i := strings.LastIndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") && !ok {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if ok {
		return "created by " + name
	}
	return name
}

// cleanPlace keeps the file's own name and the line.
func cleanPlace(line string) string {
	line = strings.TrimSpace(line)
	if i := strings.IndexByte(line, ' '); i >= 0 {
		line = line[:i]
	}
	if i := strings.LastIndexByte(line, '/'); i >= 0 {
		line = line[i+1:]
	}
	return line
}
