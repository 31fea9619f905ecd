package tracecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"magicode/internal/vfs"
	"magicode/telemetry"
	"magicode/telemetry/reader"
)

// Exit statuses (telemetry.md 11.1).
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2
	exitFailOn = 3
)

// Options of one explanation.
type Options struct {
	// Capture is a stem, any file of a capture, or a folder, whose newest
	// capture is meant. "" is Dir.
	Capture string
	Dir     string // where captures are by default, and where a bare stem is looked for
	JSON    bool
	HTML    string // a file for the page; it must not exist
	Look    reader.Look
	// FailOn are verdict codes, or "stuck", "dropped"; one that fires makes the status 3.
	FailOn []string
	// Resolve gives what maps hashes back to names of this machine; nil: they stay.
	Resolve func() (*telemetry.Resolver, error)
}

// command is one call of the command.
type command struct {
	fs             vfs.FS // for what it writes
	stdout, stderr io.Writer
}

func newCommand(stdout, stderr io.Writer) *command {
	return &command{fs: vfs.OS(), stdout: stdout, stderr: stderr}
}

func (c *command) fail(err error) int {
	fmt.Fprintf(c.stderr, "magi-code trace: %s\n", reader.Escape(err.Error()))
	return exitError
}

func (c *command) json(v any) int {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = c.stdout.Write(append(reader.EscapeJSON(b), '\n'))
	}
	if err != nil {
		return c.fail(err)
	}
	return exitOK
}

// Run explains a capture and returns the exit status.
func Run(o Options, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	for _, f := range o.FailOn {
		if len(codes(f)) == 0 {
			fmt.Fprintf(stderr, "magi-code trace: unknown --fail-on %q; the words are: %s\n", f, strings.Join(FailWords(), ", "))
			return exitUsage
		}
	}
	a, err := c.explain(o)
	if errors.Is(err, errNone) && isWord(o.Capture) {
		err = fmt.Errorf("%w; if a command was meant, magi-code trace --help lists them", err)
	}
	if err != nil {
		return c.fail(err)
	}
	if o.Look.Run != 0 && !slices.ContainsFunc(a.Runs, func(r reader.Run) bool { return r.Seq == o.Look.Run }) {
		return c.fail(fmt.Errorf("%s has no run %d; it has %d", a.Capture.Name, o.Look.Run, len(a.Runs)))
	}
	if o.HTML != "" {
		if err := c.create(o.HTML, func(w io.Writer) error { reader.HTML(w, a); return nil }); err != nil {
			return c.fail(err)
		}
	}
	switch {
	case o.JSON:
		if code := c.json(a); code != exitOK {
			return code
		}
	case o.HTML == "":
		reader.Print(stdout, a, o.Look)
	default:
		fmt.Fprintf(stdout, "%s is written\n", reader.Escape(o.HTML))
	}
	return status(o, a)
}

// isWord reports what may be a command that was not written right: no path, and no
// name of a capture.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

func status(o Options, a *reader.Analysis) int {
	for _, f := range o.FailOn {
		for _, v := range a.Verdicts {
			if slices.Contains(codes(f), v.Code) {
				return exitFailOn
			}
		}
	}
	return exitOK
}

// FailWords are the words that --fail-on takes: the verdicts, and short forms of two.
func FailWords() []string { return append(reader.Codes(), "stuck", "dropped") }

// codes are the verdicts that a word of --fail-on means.
func codes(word string) []string {
	switch {
	case word == "stuck":
		return []string{"stuck-cleanup"}
	case word == "dropped":
		return []string{"telemetry-loss"}
	case slices.Contains(FailWords(), word):
		return []string{word}
	}
	return nil
}

// analyse reads and explains one capture.
func analyse(name, dir string) (*reader.Analysis, error) {
	f, c, err := load(name, dir)
	if err != nil {
		return nil, err
	}
	return reader.Analyse(f.stem, c), nil
}

func load(name, dir string) (found, *reader.Capture, error) {
	f, err := find(name, dir)
	if err != nil {
		return f, nil, err
	}
	c, err := f.read()
	if err == nil {
		err = c.Whole()
	}
	if err != nil {
		return f, nil, fmt.Errorf("%s: %w", f.stem, err)
	}
	return f, c, nil
}

// explain is analyse with names, where they were asked for. What cannot be
// mapped back is told; the explanation does not depend on it.
func (c *command) explain(o Options) (*reader.Analysis, error) {
	f, capture, err := load(o.Capture, o.Dir)
	if err != nil {
		return nil, err
	}
	var names []reader.Name
	if o.Resolve != nil {
		r, err := o.Resolve()
		if err != nil {
			c.note("names stay hashed: %v", err)
		} else if names = capture.Resolve(r); len(names) > 0 && !reader.AnyResolved(names) {
			c.note("names stay hashed: none of the %d is known here; the capture is of another home, or they are not configured any more", len(names))
		}
	}
	a := reader.Analyse(f.stem, capture)
	a.Names = names
	return a, nil
}

// note tells what does not change the status.
func (c *command) note(format string, args ...any) {
	fmt.Fprintf(c.stderr, "magi-code trace: %s\n", reader.Escape(fmt.Sprintf(format, args...)))
}

// DiffOptions are those of a comparison.
type DiffOptions struct {
	A, B string   // captures, as Options.Capture
	Dir  string   // as Options.Dir
	Over *float64 // percent; nil: nothing is judged
	JSON bool
	Look reader.Look
}

// Diff holds two captures against each other. The status is 3 when a phase of B
// is slower by more than Over.
func Diff(o DiffOptions, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	if o.Over != nil && !(*o.Over >= 0) {
		fmt.Fprintln(stderr, "magi-code trace diff: --over takes a percentage of 0 or more")
		return exitUsage
	}
	a, err := analyse(o.A, o.Dir)
	if err != nil {
		return c.fail(err)
	}
	b, err := analyse(o.B, o.Dir)
	if err != nil {
		return c.fail(err)
	}
	d := reader.Compare(a, b, o.Over)
	if o.JSON {
		if code := c.json(d); code != exitOK {
			return code
		}
	} else {
		reader.PrintDiff(stdout, d, o.Look)
	}
	if len(d.Slower) > 0 {
		return exitFailOn
	}
	return exitOK
}

// create makes a private file that was not there. What cannot be written whole
// is taken away.
func (c *command) create(path string, write func(io.Writer) error) error {
	path, err := absolute(path)
	if err != nil {
		return err
	}
	f, err := c.fs.Open(path, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another name", path)
	}
	if err != nil {
		return err
	}
	w := &sticky{w: f}
	err = write(w)
	if err = errors.Join(err, w.err, f.Close()); err != nil {
		return errors.Join(err, c.fs.Remove(path))
	}
	return nil
}

// sticky keeps the first error, for writers that have no place for it.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}
