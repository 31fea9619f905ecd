package redact

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sampleLines returns up to n lines of the files below root that keep accepts,
// the same ones in each run.
func sampleLines(t *testing.T, root string, n int, keep func(name string) bool) []string {
	t.Helper()
	var lines []string
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !keep(strings.ToLower(d.Name())) {
			return nil //nolint:nilerr // what cannot be read is not part of the sample
		}
		if files++; files%8 != 0 && n < 100_000 && isGo(path) {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		lines = append(lines, strings.Split(string(raw), "\n")...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return lines[:min(n, len(lines))]
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func isGo(name string) bool     { return strings.HasSuffix(name, ".go") }
func isReadme(name string) bool { return strings.HasPrefix(name, "readme") }

// TestOrdinaryLinesStay: decision 46, at most 0.2 % of ordinary lines change.
func TestOrdinaryLinesStay(t *testing.T) {
	type corpus struct {
		name, root string
		keep       func(string) bool
	}
	corpora := []corpus{
		{"Go's source tree", filepath.Join(goEnv(t, "GOROOT"), "src"), isGo},
		{"READMEs of modules", goEnv(t, "GOMODCACHE"), isReadme},
	}
	n := 20_000
	if roots := os.Getenv("REDACT_CORPORA"); roots != "" {
		n = 400_000
		for _, root := range filepath.SplitList(roots) {
			corpora = append(corpora, corpus{root, root, func(string) bool { return true }})
		}
	}
	for _, c := range corpora {
		lines := sampleLines(t, c.root, n, c.keep)
		changed := 0
		for _, l := range lines {
			if got := Text(l); got != l {
				if changed++; testing.Verbose() {
					t.Logf("%.200s\n\t\t%.200s", l, got)
				}
			}
		}
		t.Logf("%s: %d of %d lines change, %.3f %%", c.name, changed, len(lines), 100*float64(changed)/float64(max(len(lines), 1)))
		if changed*1000 > 2*len(lines) {
			t.Errorf("%s: more than 0.2 %% change", c.name)
		}
	}
}
