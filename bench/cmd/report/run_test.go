package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module makes a working tree with one package of benchmarks.
func module(t *testing.T, test string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod":               "module example\n\ngo 1.26\n",
		"small/a_test.go":      "package small\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar _, _ = os.Getpid, time.Now\n\nfunc BenchmarkIt(b *testing.B) {\n" + test + "}\n",
		"small/none/x.go":      "package none\n",
		"small/none/n_test.go": "package none\n",
	} {
		name := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTwoTrees: two trees are run by turns, each into a text of its own, and
// nothing temporary is left.
func TestTwoTrees(t *testing.T) {
	order := filepath.Join(t.TempDir(), "order")
	note := func(name string) string {
		return "f, _ := os.OpenFile(\"" + order + "\", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)\nf.WriteString(\"" + name + "\")\nf.Close()\n" +
			"os.MkdirTemp(\"\", \"left\")\nfor b.Loop() {\n}\n"
	}
	head, base := module(t, note("h")), module(t, note("b"))
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Chdir(head)
	o := options{bench: ".", benchtime: "1x", rounds: 2, atOnce: 1, packages: []string{"./..."},
		text: filepath.Join(head, "head.txt"), base: base, baseText: filepath.Join(head, "base.txt")}
	text, err := benchmarks(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{o.text, o.baseText} {
		b, err := os.ReadFile(file)
		if err != nil || strings.Count(string(b), "BenchmarkIt") != 2 || file == o.text && string(b) != string(text) {
			t.Errorf("%s: %v %s", file, err, b)
		}
	}
	if b, _ := os.ReadFile(order); string(b) != "hbbh" {
		t.Errorf("the order was %s", b)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "magi-code-report-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFailedSuite: a suite that fails fails the run, at its end; what the others
// said is reported.
func TestFailedSuite(t *testing.T) {
	t.Chdir(module(t, "for b.Loop() {\n}\n"))
	other := "package worse\n\nimport \"testing\"\n\nfunc BenchmarkWorse(b *testing.B) { b.Fatal(\"no\") }\n"
	if err := errors.Join(os.Mkdir("aworse", 0o755), os.WriteFile("aworse/b_test.go", []byte(other), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := run(t.Context(), options{bench: ".", benchtime: "1x", rounds: 1, atOnce: 1, packages: []string{"./..."}, out: "r.json"})
	if err == nil || !strings.Contains(err.Error(), "FAIL: BenchmarkWorse") {
		t.Errorf("%v", err)
	}
	if r, err := readReport("r.json"); err != nil || len(r.Results) == 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// TestBrokenOff: what a run that fails or is interrupted had by then is kept.
func TestBrokenOff(t *testing.T) {
	for name, c := range map[string]struct {
		test string
		want string
	}{
		"fails":       {"if os.Getenv(\"AGAIN\") != \"\" {\nb.Fatal(\"no\")\n}\nfor b.Loop() {\n}\n", "no"},
		"interrupted": {"for b.Loop() {\n}\nif os.Getenv(\"AGAIN\") != \"\" {\ntime.Sleep(time.Hour)\n}\n", context.Canceled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(module(t, c.test))
			ctx, cancel := context.WithCancel(t.Context())
			r := &runner{options: options{bench: ".", benchtime: "1x", rounds: 2, atOnce: 2, packages: []string{"./..."}}, tmp: t.TempDir(), progress: func(string, ...any) {}}
			if err := r.add(ctx, ".", "text"); err != nil {
				t.Fatal(err)
			}
			r.round(ctx, 0)
			t.Setenv("AGAIN", "1")
			if name == "interrupted" {
				time.AfterFunc(300*time.Millisecond, cancel) // the suite sleeps by then; were it not begun, the end would be the same
			}
			r.round(ctx, 1)
			if err := errors.Join(ctx.Err(), r.close()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			cancel()
			if b, err := os.ReadFile("text"); err != nil || strings.Count(string(b), "BenchmarkIt-") != 1 {
				t.Errorf("%v %s", err, b)
			}
		})
	}
}
