package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"modernc.org/quickjs"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// ending is how a script ended: with a value, by an exception of its own, or by
// the host (err: a limit, or what ends the turn).
type ending struct {
	value  string // JSON
	failed *exception
	err    error
}

// exception is what a script threw; line and column count in its own source, 0
// when they are not known.
type exception struct {
	message      string
	line, column int
}

// maxException bounds an exception's message in characters (tools.md 3.5).
const maxException = 2048

// outOfMemory is the engine's own message.
const outOfMemory = "out of memory"

// read understands what the prelude's run function returned.
func (b *batch) read(f finished, source string) ending {
	if f.err != nil {
		return b.readError(f.err, source)
	}
	kind, rest := f.text[:min(1, len(f.text))], f.text[min(1, len(f.text)):]
	switch kind {
	case "V":
		if len(rest) > b.opt.Limits.ReturnBytes {
			return ending{err: &LimitError{ReturnLimit, int64(b.opt.Limits.ReturnBytes)}}
		}
		if _, err := jsonscan.Parse([]byte(rest), jsonscan.Options{AnyNumber: true, LoneSurrogates: true}); err != nil {
			return ending{failed: &exception{message: "the value is nested too deeply"}}
		}
		return ending{value: rest}
	case "P":
		return ending{failed: &exception{message: "the value is a promise; tools.call answers at once, so return plain data"}}
	case "U":
		return ending{failed: &exception{message: "the value cannot be written as JSON"}}
	case "E":
		return b.readThrown(rest, source, f.full)
	}
	return ending{err: errEngine}
}

// readThrown reads ["message","stack"]. An engine without memory for an
// exception throws null.
func (b *batch) readThrown(text, source string, full bool) ending {
	v, err := jsonscan.Parse([]byte(text), jsonscan.Options{LoneSurrogates: true})
	if err != nil {
		return ending{err: errEngine}
	}
	var parts []string
	for e := range v.Elements() {
		parts = append(parts, e.LenientText())
	}
	if len(parts) != 2 {
		return ending{err: errEngine}
	}
	if parts[0] == outOfMemory || parts[0] == "null" && full {
		return ending{err: b.memory()}
	}
	x := &exception{message: parts[0]}
	x.line, x.column = position(parts[1], source)
	return ending{failed: x}
}

// readError reads what the engine itself reports: a source that does not parse,
// or no memory left to report anything else.
func (b *batch) readError(err error, source string) ending {
	var e *quickjs.Error
	if !errors.As(err, &e) {
		return ending{err: errEngine}
	}
	if e.Message == outOfMemory {
		return ending{err: b.memory()}
	}
	x := &exception{message: e.Message}
	if e.Name != "" {
		x.message = e.Name + ": " + e.Message
	}
	x.line, x.column = within(e.LineNumber-1, e.ColumnNumber, source)
	if e.Name == "SyntaxError" && e.LineNumber-1 > strings.Count(source, "\n")+1 {
		x.message = "SyntaxError: the script ends too early" // the engine speaks of what we put behind it
	}
	return ending{failed: x}
}

func (b *batch) memory() error {
	return &LimitError{MemoryLimit, int64(b.opt.Limits.MemoryBytes)}
}

// position finds the first frame of a stack that lies in the user's source.
func position(stack, source string) (line, column int) {
	for frame := range strings.SplitSeq(stack, "\n") {
		_, at, ok := strings.Cut(frame, "<eval>:")
		if !ok {
			continue
		}
		l, c, _ := strings.Cut(strings.TrimRight(at, ") "), ":")
		n, err := strconv.Atoi(l)
		if err != nil || n < 2 {
			continue // the prelude
		}
		col, _ := strconv.Atoi(c)
		return within(n-1, col, source)
	}
	return 0, 0
}

// within leaves out lines that the source has not: what stands around it is not
// the user's.
func within(line, column int, source string) (int, int) {
	lines := strings.Count(source, "\n") + 1
	switch {
	case line < 1:
		return 0, 0
	case line > lines:
		return lines, 0
	}
	return line, column
}

// text is what the model is told.
func (x *exception) text() string {
	message := strings.TrimSpace(redact.Text(firstChars(x.message, maxException)))
	if message == "" {
		message = "an exception without a message"
	}
	where := ""
	if x.line > 0 {
		where = fmt.Sprintf(" (line %d", x.line)
		if x.column > 0 {
			where += fmt.Sprintf(", column %d", x.column)
		}
		where += ")"
	}
	return "Code Mode JavaScript failed: " + message + where + "; completed effects remain applied"
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
