package tracecmd

import (
	"encoding/json"
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
	Dir     string // where captures are by default
	JSON    bool
	// FailOn are verdict codes, or "stuck", "dropped"; one that fires makes the status 3.
	FailOn []string
}

var errNone = errors.New("no capture")

// Run explains a capture and returns the exit status.
func Run(o Options, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "magi-code trace: %v\n", err)
		return exitError
	}
	for _, f := range o.FailOn {
		if len(codes(f)) == 0 {
			fmt.Fprintf(stderr, "magi-code trace: unknown --fail-on %q; the words are: %s\n", f, strings.Join(FailWords(), ", "))
			return exitUsage
		}
	}
	stem, files, err := find(o)
	if err != nil {
		return fail(err)
	}
	c := new(reader.Capture)
	for _, path := range files {
		if err := readFile(c, path); err != nil {
			return fail(err)
		}
	}
	a := reader.Analyse(c)
	if o.JSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(a); err != nil {
			return fail(err)
		}
	} else {
		reader.Print(stdout, stem, a)
	}
	return status(o, a)
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
func FailWords() []string {
	return []string{"stuck", "stuck-cleanup", "vanished", "output-failed", "slow-cleanup", "near-miss", "slow-startup",
		"slow-provider", "slow-disk", "slow-history", "dropped", "telemetry-loss"}
}

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

func readFile(c *reader.Capture, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = c.Read(f)
	return errors.Join(err, f.Close())
}

// find returns the stem of the capture and its files, oldest segment first.
func find(o Options) (stem string, files []string, err error) {
	path := o.Capture
	if path == "" {
		path = o.Dir
	}
	info, err := os.Stat(path)
	if o.Capture == "" && errors.Is(err, fs.ErrNotExist) {
		return "", nil, noneIn(path)
	}
	if err == nil && info.IsDir() {
		if path, err = newest(path); err != nil {
			return "", nil, err
		}
	}
	dir, name := filepath.Split(path)
	stem, _, _ = strings.Cut(name, ".")
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stem+".") && strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("%w: %s", errNone, path)
	}
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(order(a), order(b))
	})
	return stem, files, nil
}

// order sorts the segments of a signal: x.jsonl, x.1.jsonl, … x.10.jsonl.
func order(path string) string {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".jsonl"), ".")
	for i := range parts {
		parts[i] = fmt.Sprintf("%8s", parts[i])
	}
	return strings.Join(parts, ".")
}

// newest is the newest capture of a folder: stems begin with their time.
func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	best := ""
	for _, e := range entries {
		stem, _, _ := strings.Cut(e.Name(), ".")
		if strings.HasPrefix(stem, "mc-") && strings.HasSuffix(e.Name(), ".jsonl") && stem > best {
			best = stem
		}
	}
	if best == "" {
		return "", noneIn(dir)
	}
	return filepath.Join(dir, best), nil
}

func noneIn(dir string) error {
	return fmt.Errorf("%w in %s; start the host with MC_TELEMETRY=file", errNone, dir)
}
