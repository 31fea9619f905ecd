package tools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"magicode/internal/ignore"
	"magicode/internal/tool"
)

// words of made-up source text; none holds what the benchmarks look for.
var words = strings.Fields("alpha value return count index buffer string error result handle config option request response stream frame context session number table entry record cursor offset length parse encode decode write close open total first second third if else for range func type struct const var nil true false")

// makeTree writes files of made-up source text: count files of about size bytes
// each, 30 to a directory. The content depends on nothing but the numbers.
func makeTree(root string, count, size int) error {
	r := rand.New(rand.NewPCG(1, 2))
	var line strings.Builder
	for i := range count {
		dir := filepath.Join(root, fmt.Sprintf("pkg%02d", i/900), fmt.Sprintf("part%02d", i/30%30))
		if i%30 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		line.Reset()
		for line.Len() < size {
			for range r.IntN(9) {
				line.WriteString(words[r.IntN(len(words))])
				line.WriteByte(" \t.,(){}=:"[r.IntN(10)])
			}
			if r.IntN(5000) == 0 {
				line.WriteString("rare_needle_42")
			}
			line.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%04d.txt", i)), []byte(line.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// trees are made once per run of the benchmarks and removed by TestMain.
type trees struct {
	mu   sync.Mutex
	base string
	made map[string]string
}

var shared = &trees{made: map[string]string{}}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.base != "" {
		os.RemoveAll(shared.base)
	}
	os.Exit(code)
}

// get returns a tree, making it when it is first asked for.
func (t *trees) get(tb testing.TB, name string, fill func(root string) error) tool.Env {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == "" {
		base, err := os.MkdirTemp("", "bench-tools-")
		if err != nil {
			tb.Fatal(err)
		}
		t.base = base
	}
	root, ok := t.made[name]
	if !ok {
		root = filepath.Join(t.base, name)
		if err := os.MkdirAll(root, 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := fill(root); err != nil {
			tb.Fatal(err)
		}
		t.made[name] = root
	}
	return tool.Env{Cwd: root, CanonicalCwd: root}
}

// few is n, or a hundredth of it with -short.
func few(n int) int {
	if testing.Short() {
		return n / 100
	}
	return n
}

func noSources(tb testing.TB) ignore.Sources {
	d := tb.TempDir()
	return ignore.Sources{Home: d, Config: d + "/config", System: d + "/system"}
}
