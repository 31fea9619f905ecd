package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"magicode/telemetry/rawfile"
)

// TestRealFullDisk: on a real disk that is full no file keeps a part of a line;
// the capture is suspended, and goes on once there is room again (T-34).
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("magi-code-test", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=72m,mode=0700"); err != nil {
		t.Skipf("to mount a small disk is refused: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	c, err := Open(Options{Dir: dir, Stem: stem, MaxBytes: 64 << 20, Keep: 10, TotalBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	line := strings.Repeat("x", 2999) + "\n"
	now := time.Now()
	put := func(want error) {
		t.Helper()
		for range 3 {
			if err := c.Write(Traces, []byte(line+line), 2, now); !errors.Is(err, want) {
				t.Fatalf("%v, want %v", err, want)
			}
		}
		if text := read(t, dir, "traces"); len(text)%len(line) != 0 || strings.Count(text, line) != len(text)/len(line) || c.Size() != int64(len(text)) {
			t.Errorf("%d bytes of %d: a line is torn", len(text), c.Size())
		}
		if c.Suspended() != (want != nil) {
			t.Errorf("suspended: %v", c.Suspended())
		}
	}
	put(nil)
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	put(rawfile.DiskFull)
	now = now.Add(retryFull)
	put(rawfile.DiskFull)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	now = now.Add(retryFull)
	put(nil)
	if n := strings.Count(read(t, dir, "traces"), "\n"); n < 12 {
		t.Errorf("%d lines", n)
	}
}

// fill writes until there is no room left. In the last page of a file there still
// is some, so that the next write to it is a short one.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // the disk is full
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}
