package config

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

// world is a home and a project in memory.
type world struct {
	fs   *memfs.FS
	vars map[string]string
	env  Env
	t    testing.TB
	held []string // locks held now
	took []string // locks ever taken
}

const (
	homeDir = "/home/u"
	rootDir = "/home/u/.magi-code"
	workDir = "/srv/p"
)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{fs: memfs.New(), vars: map[string]string{"HOME": homeDir}, t: t}
	w.mkdir(homeDir)
	w.mkdir(workDir)
	w.env = Env{
		FS: w.fs, CWD: workDir, PID: 4242, UID: os.Geteuid(),
		Lookup: func(name string) (string, bool) { v, ok := w.vars[name]; return v, ok },
		Lock:   w.lock,
	}
	return w
}

func (w *world) lock(_ context.Context, target string, wait time.Duration) (func() error, error) {
	if wait != SettingsLockWait {
		w.t.Errorf("waits %v for %s", wait, target)
	}
	w.held, w.took = append(w.held, target), append(w.took, target)
	return func() error {
		if n := len(w.held); n == 0 || w.held[n-1] != target {
			w.t.Errorf("lock of %s released out of order", target)
			return errors.New("not held")
		}
		w.held = w.held[:len(w.held)-1]
		return nil
	}, nil
}

func (w *world) mkdir(name string) {
	w.t.Helper()
	if err := w.fs.MkdirAll(name, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	if err := vfs.Replace(w.fs, name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) global(text string)  { w.write(rootDir+"/settings.json", text) }
func (w *world) project(text string) { w.write(workDir+"/.magi-code/settings.json", text) }

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := vfs.ReadFile(w.fs, name, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// load fails the test on an error.
func (w *world) load() *Loaded {
	w.t.Helper()
	l, err := Load(w.t.Context(), w.env)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(w.held) > 0 {
		w.t.Errorf("still holds %v", w.held)
	}
	return l
}

// refuse wants ErrInvalid.
func (w *world) refuse() *Error {
	w.t.Helper()
	l, err := Load(w.t.Context(), w.env)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrInvalid) {
		w.t.Fatalf("got %v, wanted a configuration error", err)
	}
	if l == nil || l.Settings != nil {
		w.t.Error("settings beside an error")
	}
	if len(w.held) > 0 {
		w.t.Errorf("still holds %v", w.held)
	}
	return e
}

// at nests a JSON value below a slash-separated path.
func at(path, value string) string {
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		key, _ := json.Marshal(parts[i])
		value = "{" + string(key) + ":" + value + "}"
	}
	return value
}
