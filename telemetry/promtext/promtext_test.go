//go:build unix

package promtext

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"magicode/telemetry/point"
	"magicode/telemetry/rawfile"
)

// TestFile: the mode is exact whatever the umask is.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.prom")
	defer syscall.Umask(syscall.Umask(0))
	for i, mode := range []uint32{0o600, 0o640, 0o644, 0o600, 0o640, 0o644} {
		syscall.Umask([]int{0, 0o077}[i/3])
		f, err := Open(path, mode)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, mode); err != rawfile.Locked {
			t.Errorf("a second writer: %v", err)
		}
		if err := f.Write(nil, false, "1.2"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		info, err := os.Stat(path)
		if err != nil || uint32(info.Mode()) != mode {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if info, err := os.Stat(path + ".lock"); err != nil || info.Mode() != 0o600 {
			t.Errorf("the lock: %v, %v", info.Mode(), err)
		}
	}
	b, err := os.ReadFile(path)
	for _, want := range []string{"# TYPE magi_up gauge\nmagi_up 0\n", "# TYPE magi_build_info gauge\nmagi_build_info{version=\"1.2\"} 1\n"} {
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%q, %v", b, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".m*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOldFileStays when the new one cannot be made.
func TestOldFileStays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.prom")
	f, err := Open(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write(nil, true, "1"); err != nil {
		t.Fatal(err)
	}
	huge := point.Metric{Name: "x", Type: point.Gauge, Points: []point.Point{{Labels: []point.Label{{Key: "k", Value: string(make([]byte, 2<<20))}}}}}
	if err := f.Write([]point.Metric{huge}, true, "1"); err == nil {
		t.Error("a file without bound")
	}
	if b, err := os.ReadFile(path); err != nil || len(b) == 0 {
		t.Errorf("%q %v", b, err)
	}
}

func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "l.prom.lock")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "none", "x.prom"), filepath.Join(dir, "l.prom"), "/dev/null/x.prom"} {
		if f, err := Open(path, 0o600); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
	}
}
