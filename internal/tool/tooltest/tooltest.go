// Package tooltest sets up what the tests of tools have in common.
package tooltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/ignore"
	"magicode/internal/tool"
)

// Workspace makes a folder with files, by their paths in it and with their text;
// a path that ends in a slash is a folder. It returns a tool's environment there.
func Workspace(t testing.TB, files map[string]string) tool.Env {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir()) // macOS keeps temporary files behind a link
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := put(filepath.Join(root, name), text, strings.HasSuffix(name, "/")); err != nil {
			t.Fatal(err)
		}
	}
	return tool.Env{Cwd: root, CanonicalCwd: root}
}

func put(path, text string, folder bool) error {
	if folder {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Sources are ignore rules that nothing of this machine's user adds to.
func Sources(t testing.TB) ignore.Sources {
	d := t.TempDir()
	return ignore.Sources{Home: d, Config: d + "/config", System: d + "/system"}
}
