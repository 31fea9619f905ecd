package tracecmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"magicode/telemetry/reader"
)

var errNone = errors.New("no capture")

// found is a capture and its files, the oldest segment of each signal first.
type found struct {
	stem  string
	files []string
	trace string // the runtime trace beside them; "" for none
}

const traceEnd = ".runtime.trace"

// find looks for a capture: name is a stem, which may lie in dir, a file of one, or a
// folder whose newest is meant; "" is dir.
func find(name, dir string) (found, error) {
	path := name
	if path == "" {
		path = dir
	}
	info, err := os.Stat(path)
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return found{}, noneYet(path)
	}
	if err == nil && info.IsDir() {
		stems, err := stemsOf(path)
		if err != nil {
			return found{}, err
		}
		switch {
		case len(stems) > 0:
		case name == "":
			return found{}, noneYet(path)
		default:
			return found{}, fmt.Errorf("%w in %s", errNone, path)
		}
		path = filepath.Join(path, stems[len(stems)-1])
	}
	f, err := filesOf(path)
	switch {
	case err == nil || !errors.Is(err, errNone):
	case info != nil && strings.HasSuffix(path, ".zip"):
		err = fmt.Errorf("%s is an archive; unpack it and name the folder", path)
	case filepath.Base(name) == name && dir != "":
		if known, there := filesOf(filepath.Join(dir, name)); there == nil {
			return known, nil
		}
	}
	if info != nil && errors.Is(err, errNone) {
		err = fmt.Errorf("%w: %s is no file of one", errNone, path)
	}
	return f, err
}

// filesOf lists the files of the capture that path is a stem or a file of.
func filesOf(path string) (found, error) {
	dir, name := filepath.Split(path)
	stem, _, _ := strings.Cut(name, ".")
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return found{}, err
	}
	f := found{stem: stem}
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.Type().IsRegular():
		case name == stem+traceEnd:
			f.trace = filepath.Join(dir, name)
		case ofCapture(stem, name):
			f.files = append(f.files, filepath.Join(dir, name))
		}
	}
	if len(f.files) == 0 {
		return found{}, fmt.Errorf("%w: %s", errNone, path)
	}
	slices.SortFunc(f.files, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	return f, nil
}

// missing tells of the signals that have no file.
func (c *command) missing(f found) {
	for _, signal := range reader.Signals() {
		if !slices.ContainsFunc(f.files, func(path string) bool { s, _ := reader.Segment(filepath.Base(path)); return s == signal }) {
			c.note("%s: the %s file is missing", f.stem, signal)
		}
	}
}

// ofCapture reports the name of a file of a capture's signals: the stem, the
// signal and, of a later segment, its number. What is called otherwise may be
// somebody's copy or notes.
func ofCapture(stem, name string) bool {
	rest, found := strings.CutPrefix(name, stem+".")
	rest, lines := strings.CutSuffix(rest, ".jsonl")
	signal, number, later := strings.Cut(rest, ".")
	if !found || !lines || !slices.Contains(reader.Signals(), signal) {
		return false
	}
	return !later || number != "" && strings.Trim(number, "0123456789") == ""
}

// order sorts the segments of a signal: x.jsonl, x.1.jsonl, … x.10.jsonl.
func order(path string) string {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".jsonl"), ".")
	for i := range parts {
		parts[i] = fmt.Sprintf("%8s", parts[i])
	}
	return strings.Join(parts, ".")
}

// read reads all files of a capture.
func (f found) read() (*reader.Capture, error) {
	c := new(reader.Capture)
	if info, err := os.Lstat(f.trace); err == nil {
		c.RuntimeTrace = info.Size()
	}
	for _, path := range f.files {
		if err := readFile(c, path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readFile(c *reader.Capture, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = c.Read(f, filepath.Base(path))
	return errors.Join(err, f.Close())
}

// maxFile bounds a file that is looked at as a whole; a capture has at most
// 1,024 MB in segments of a quarter of a signal's share (telemetry.md 8.5).
const maxFile = 256 << 20

// whole is a file's content.
func whole(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is too large", filepath.Base(path))
	}
	return data, errors.Join(err, f.Close())
}

// stemsOf lists the captures of a folder, the oldest first: stems begin with
// their time.
func stemsOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var stems []string
	for _, e := range entries {
		stem, _, _ := strings.Cut(e.Name(), ".")
		if strings.HasPrefix(stem, "mc-") && strings.HasSuffix(e.Name(), ".jsonl") && !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	slices.Sort(stems)
	return stems, nil
}

// noneYet is of the folder that nobody named: where a child would leave one.
func noneYet(dir string) error {
	return fmt.Errorf("%w in %s; start the host with MC_TELEMETRY=file", errNone, dir)
}

func absolute(path string) (string, error) { return filepath.Abs(path) }
