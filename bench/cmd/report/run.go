package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"magicode/bench/host"
)

// binaries is where a tree's test binaries are kept: the go command does not
// link again what is up to date there.
const binaries = "bench/out/tests"

// suite is the test binary of a package.
type suite struct{ name, dir, binary string }

// tree is a working tree whose benchmarks are run.
type tree struct {
	dir    string
	suites []suite
	text   bytes.Buffer
	file   io.WriteCloser // what text gets, as it comes: a run that breaks off leaves what it had
}

// runner runs the suites of one tree, or of two by turns.
type runner struct {
	options
	tmp     string // everything temporary of the suites
	trees   []*tree
	writing sync.Mutex
	failed  error
	// progress tells how far the run is.
	progress func(format string, args ...any)
}

// benchmarks builds the packages once and runs them by turns. It returns the
// text of the first tree, with an error too where a suite failed: the others are
// run all the same.
func benchmarks(ctx context.Context, o options) (text []byte, err error) {
	tmp, err := os.MkdirTemp("", "magi-code-report-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	r := &runner{options: o, tmp: tmp}
	for _, t := range []struct{ dir, text string }{{".", o.text}, {o.base, o.baseText}} {
		if t.dir == "" {
			continue
		}
		if err := r.add(ctx, t.dir, t.text); err != nil {
			return nil, err
		}
	}
	r.progress = host.Progress(o.rounds * r.count())
	for n := range o.rounds {
		r.round(ctx, n)
	}
	return r.trees[0].text.Bytes(), errors.Join(ctx.Err(), r.close())
}

// add builds the suites of a tree and opens what its text goes to.
func (r *runner) add(ctx context.Context, dir, file string) error {
	t := &tree{dir: dir}
	var err error
	fmt.Fprintln(os.Stderr, "building the benchmarks of", dir)
	if t.suites, err = r.build(ctx, dir); err != nil {
		return err
	}
	if file != "" {
		if t.file, err = os.Create(file); err != nil {
			return err
		}
	}
	r.trees = append(r.trees, t)
	var head bytes.Buffer
	// A tree that is no working copy has no commit.
	if commit, err := exec.CommandContext(ctx, "git", "-C", dir, "describe", "--always", "--dirty", "--exclude", "*").Output(); err == nil {
		fmt.Fprintf(&head, "commit: %s\n", bytes.TrimSpace(commit))
	}
	fmt.Fprintln(&head, "telemetry: off where a name does not say otherwise")
	r.take(t, head.Bytes(), nil)
	return nil
}

// take keeps what a suite said, and the error that it ended with.
func (r *runner) take(t *tree, text []byte, err error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	t.text.Write(text)
	if t.file != nil {
		_, werr := t.file.Write(text)
		err = errors.Join(err, werr)
	}
	r.failed = errors.Join(r.failed, err)
}

// close returns what failed.
func (r *runner) close() error {
	err := r.failed
	for _, t := range r.trees {
		if t.file != nil {
			err = errors.Join(err, t.file.Close())
		}
	}
	return err
}

// round runs every suite once, that of the other tree right after or, in every
// second round, right before.
func (r *runner) round(ctx context.Context, n int) {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, r.atOnce)
	for _, name := range r.names() {
		for i := range r.trees {
			t := r.trees[(i+n)%len(r.trees)]
			at := slices.IndexFunc(t.suites, func(s suite) bool { return s.name == name })
			if at < 0 {
				continue // the other tree has no such suite
			}
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return
			}
			r.progress("round %d of %d, %s%s", n+1, r.rounds, name, r.label(t))
			running.Go(func() {
				defer func() { <-free }()
				r.run(ctx, t, t.suites[at])
			})
		}
	}
}

// count is how many suites a round runs.
func (r *runner) count() (n int) {
	for _, t := range r.trees {
		n += len(t.suites)
	}
	return n
}

// names are those of the suites, in order.
func (r *runner) names() (out []string) {
	for _, t := range r.trees {
		for _, s := range t.suites {
			if !slices.Contains(out, s.name) {
				out = append(out, s.name)
			}
		}
	}
	return out
}

// label tells two trees apart.
func (r *runner) label(t *tree) string {
	if len(r.trees) == 1 {
		return ""
	}
	return " in " + t.dir
}

// run runs a suite once. What it said before it failed is kept as well.
func (r *runner) run(ctx context.Context, t *tree, s suite) {
	cmd := exec.CommandContext(ctx, s.binary, "-test.run", "^$", "-test.bench", r.bench, "-test.benchmem", "-test.benchtime", r.benchtime,
		"-test.short="+strconv.FormatBool(r.short), "-test.timeout", "1h")
	cmd.Dir, cmd.Stderr, cmd.Env = s.dir, os.Stderr, append(os.Environ(), "TMPDIR="+r.tmp)
	got, err := cmd.Output()
	if ctx.Err() == nil && err != nil {
		err = fmt.Errorf("%s: %w\n%s", s.name, err, trouble(got))
	}
	r.take(t, got, err)
}

// trouble is what a suite said of its failure.
func trouble(got []byte) []byte {
	var out []byte
	for line := range bytes.Lines(got) {
		if !bytes.HasPrefix(line, []byte("Benchmark")) {
			out = append(out, line...)
		}
	}
	return tail(out)
}

// build leaves out packages without benchmarks.
func (r *runner) build(ctx context.Context, tree string) (suites []suite, err error) {
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "TMPDIR="+r.tmp)
		return cmd
	}
	list := command(append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"}, r.packages...)...)
	list.Stderr = os.Stderr
	listed, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	into, err := filepath.Abs(filepath.Join(tree, binaries))
	if err != nil {
		return nil, err
	}
	// As the program is built: without what only a debugger reads.
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", into + string(filepath.Separator)}
	for line := range strings.SplitSeq(strings.TrimSpace(string(listed)), "\n") {
		if name, dir, ok := strings.Cut(line, " "); ok && hasBenchmark(dir) {
			suites = append(suites, suite{name, dir, filepath.Join(into, filepath.Base(dir)+".test")})
			args = append(args, name)
		}
	}
	if len(suites) == 0 {
		return nil, fmt.Errorf("no package of %s has a benchmark", strings.Join(r.packages, " "))
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return nil, err
	}
	if b, err := command(args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, tail(b))
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
