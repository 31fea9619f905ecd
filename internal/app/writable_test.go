package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/config"
	"magicode/internal/vfs"
)

// TestHomeTrouble: what a start could not write to is named, and nothing is made.
func TestHomeTrouble(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write anywhere")
	}
	for name, c := range map[string]struct{ home, closed, want string }{
		"there":         {"h", "", ""},
		"to be made":    {"new/home", "", ""},
		"closed":        {"h", "h", "h cannot be written to: permission denied"},
		"closed state":  {"h", "h/state", "state cannot be written to: permission denied"},
		"closed above":  {"h/new/home", "h", "home cannot be made: "},
		"closed inside": {"h/state/x/home", "h/state", "home cannot be made: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "h/state"), 0o700); err != nil {
				t.Fatal(err)
			}
			if c.closed != "" {
				closed := filepath.Join(dir, c.closed)
				if err := os.Chmod(closed, 0o500); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
			}
			got := homeTrouble(vfs.OS(), config.Paths{Root: filepath.Join(dir, c.home)})
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, wanted %q", got, c.want)
			}
			if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}
