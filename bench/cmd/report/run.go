package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// suite is the test binary of a package.
type suite struct{ name, dir, binary string }

// benchmarks builds the packages once and runs them by turns.
func benchmarks(o options) (text []byte, err error) {
	tmp, err := os.MkdirTemp("", "magi-code-report-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	suites, err := build(tmp, o.packages)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		fmt.Fprintf(&out, "commit: %s\n", bytes.TrimSpace(commit))
	}
	fmt.Fprintln(&out, "telemetry: off where a name does not say otherwise")
	for r := range o.rounds {
		for _, s := range suites {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", r+1, o.rounds, s.name)
			cmd := exec.Command(s.binary, "-test.run", "^$", "-test.bench", o.bench, "-test.benchmem", "-test.benchtime", o.benchtime, "-test.short="+strconv.FormatBool(o.short), "-test.timeout", "1h")
			cmd.Dir, cmd.Stderr = s.dir, os.Stderr
			got, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", s.name, err, tail(got))
			}
			out.Write(got)
		}
	}
	return out.Bytes(), nil
}

// build leaves out packages without benchmarks.
func build(tmp string, packages []string) (suites []suite, err error) {
	list, err := exec.Command("go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"}, packages...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		name, dir, ok := strings.Cut(line, " ")
		if !ok || !hasBenchmark(dir) {
			continue
		}
		s := suite{name, dir, filepath.Join(tmp, strconv.Itoa(i)+".test")}
		if b, err := exec.Command("go", "test", "-c", "-o", s.binary, name).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", name, err, tail(b))
		}
		suites = append(suites, s)
	}
	if len(suites) == 0 {
		return nil, errors.New("no package has a benchmark")
	}
	return suites, nil
}

func hasBenchmark(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("\nfunc Benchmark")) {
			return true
		}
	}
	return false
}

// tail is the end of what a program said.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }
