//go:build unix

package promtext

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry/point"
	"magicode/telemetry/rawfile"
)

func TestAppend(t *testing.T) {
	got := string(Append(nil, []point.Metric{
		{Name: "magi.frames", Unit: "{frame}", Type: point.Counter, Points: []point.Point{
			{Value: 2, Labels: []point.Label{{Key: "magi.direction", Value: "out"}}}, {Value: 1e16, Labels: []point.Label{{Key: "magi.direction", Value: "in\"\\\n"}}}}},
		{Name: "magi.output.pending", Unit: "{frame}", Type: point.Gauge, Points: []point.Point{{Value: 0.5}}},
		{Name: "magi.frame.size", Unit: "By", Type: point.Histogram, Bounds: []float64{128, 0.25}, Points: []point.Point{{Buckets: []uint64{1, 0, 2}, Sum: 1.5}}},
		{Name: "magi.x", Unit: "s", Type: point.Histogram, Bounds: []float64{1}, Points: []point.Point{{Buckets: []uint64{0, 0}, Labels: []point.Label{{Key: "a.b", Value: "c"}}}}},
	}))
	want := `# TYPE magi_frames_total counter
magi_frames_total{magi_direction="in\"\\\n"} 1e+16
magi_frames_total{magi_direction="out"} 2
# TYPE magi_output_pending gauge
magi_output_pending 0.5
# TYPE magi_frame_size_bytes histogram
magi_frame_size_bytes_bucket{le="128"} 1
magi_frame_size_bytes_bucket{le="0.25"} 1
magi_frame_size_bytes_bucket{le="+Inf"} 3
magi_frame_size_bytes_sum 1.5
magi_frame_size_bytes_count 3
# TYPE magi_x_seconds histogram
magi_x_seconds_bucket{a_b="c",le="1"} 0
magi_x_seconds_bucket{a_b="c",le="+Inf"} 0
magi_x_seconds_sum{a_b="c"} 0
magi_x_seconds_count{a_b="c"} 0
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.prom")
	for _, mode := range []uint32{0o600, 0o640, 0o644} {
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
	}
	b, err := os.ReadFile(path)
	if want := "# TYPE magi_up gauge\nmagi_up 0\n# TYPE magi_build_info gauge\nmagi_build_info{version=\"1.2\"} 1\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
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
