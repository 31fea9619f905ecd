//go:build unix

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckConfigFolder: check-config says of a capture's folder what the next child
// would, and neither makes it nor writes into it.
func TestCheckConfigFolder(t *testing.T) {
	dir := t.TempDir()
	open, link, own := filepath.Join(dir, "open"), filepath.Join(dir, "link"), filepath.Join(dir, "own")
	for path, mode := range map[string]os.FileMode{open: 0o777, own: 0o700} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		dir, want string
		status    int
	}{
		"by default": {"", "file         on\n", exitOK},
		"own":        {own, "file         on\n", exitOK},
		"missing":    {filepath.Join(dir, "none"), "problem      dir_missing telemetry.file: " + filepath.Join(dir, "none") + " is not there\n", exitError},
		"open":       {open, "problem      dir_unsafe telemetry.file: ", exitError},
		"link":       {link, "problem      dir_unsafe telemetry.file: ", exitError},
	} {
		home := filepath.Join(t.TempDir(), "home")
		out, status := command(t, home, []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=" + row.dir}, "trace", "check-config")
		if status != row.status || !strings.Contains(out, row.want) || (status != exitOK) != strings.Contains(out, "file         off") {
			t.Errorf("%s: status %d\n%s", name, status, out)
		}
		if _, err := os.Lstat(home); err == nil {
			t.Errorf("%s: the home was made", name)
		}
	}
	if names, err := os.ReadDir(own); err != nil || len(names) > 0 {
		t.Errorf("%v %v", names, err)
	}
}
