package profile

import (
	"errors"
	"path/filepath"
	"testing"

	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

const root, cwd = "/mc", "/work"

func newFS(t testing.TB, files map[string]string) *memfs.FS {
	t.Helper()
	m := memfs.New()
	for _, dir := range []string{root, cwd} {
		if err := m.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(t, m, name, text)
	}
	return m
}

func write(t testing.TB, m *memfs.FS, name, text string) {
	t.Helper()
	if err := m.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.Replace(m, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fileOf gives the file that an error of a kind names.
func fileOf(t testing.TB, err, kind error) string {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("got %v, wanted %v", err, kind)
	}
	if e.Reason == "" {
		t.Error("no reason")
	}
	return e.File
}
