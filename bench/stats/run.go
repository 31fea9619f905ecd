package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
)

// Run is how every report begins: what was measured where, and how often.
type Run struct {
	Version int    `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	Rounds  int    `json:"rounds"`
}

// NewRun is of this machine.
func NewRun(rounds int) Run {
	return Run{Version: 1, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: rounds}
}

func (r Run) String() string {
	return fmt.Sprintf("%s %s/%s, processors: %d, rounds: %d", r.Go, r.OS, r.Arch, r.CPUs, r.Rounds)
}

// Save writes v as JSON; nowhere without a name.
func Save(file string, v any) error {
	return Create(file, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(v)
	})
}

// Create has write fill a file; nothing is done without a name.
func Create(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Table prints rows in columns, the first row being their names.
func Table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprint(t, cell, "\t")
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// Number is v with three digits or so.
func Number(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Span is an interval.
func Span(ci [2]float64) string { return Number(ci[0]) + "-" + Number(ci[1]) }
