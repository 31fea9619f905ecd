package observed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"magicode/pkg/client"
)

// series reads a text file as its collector does: name{label=value} and what it
// counts. None is there twice.
func series(t *testing.T, path string) map[string]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, family := range all {
		for _, m := range family.Metric {
			key := name
			for _, l := range m.Label {
				key += "," + l.GetName() + "=" + l.GetValue()
			}
			if _, ok := out[key]; ok {
				t.Errorf("twice: %s", key)
			}
			out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// TestTextFileHasOneWriter: of two children with one text file the second writes
// nothing and says so, and what the first has written is whole all the time.
func TestTextFileHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.prom")
	env := []string{"MC_TELEMETRY=prom", "MC_TELEMETRY_PROM=" + path}
	first, second := newWorld(t), newWorld(t)
	c := first.start(t, env...)
	if _, err := c.Initialize(t.Context(), client.AllCapabilities()...); err != nil {
		t.Fatal(err)
	}
	var status statusFile
	waitUntil(t, "the first text", func() bool { _, err := os.Stat(path); return err == nil })
	second.converse(t, env...)
	status.read(t, second)
	if status.Sinks["prometheus"].State != "off" || len(status.Problems) != 1 || status.Problems[0].Code != "prom_locked" {
		t.Errorf("the second child: %+v", status)
	}
	got := series(t, path)
	if got["magi_up"] != 1 || got["magi_runs_active"] != 0 || len(got) < 20 {
		t.Errorf("while it lives: %v", got)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.end(t)
	got, status = series(t, path), statusFile{}
	status.read(t, first)
	const started = "magi_frames_total,magi_direction=in,magi_frame_type=request"
	if got["magi_up"] != 0 || got[started] != 2 || status.Sinks["prometheus"].State != "on" {
		t.Errorf("after the end: %v, %+v", got, status.Sinks)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestFullHome: where the home itself is on a full disk there is no capture, and
// the status says why.
func TestFullHome(t *testing.T) {
	dir := smallDisk(t)
	if dir == "" {
		t.Skip("no full disk")
	}
	w := newWorld(t)
	w.home = dir
	want := w.greet(t)
	write(t, filepath.Join(dir, "filler"), strings.Repeat("x", 16<<20)) // less than 64 MiB are left
	if diff := cmp.Diff(want, w.greet(t, "MC_TELEMETRY=file")); diff != "" {
		t.Error(diff)
	}
	var status statusFile
	status.read(t, w)
	if !slices.Contains(status.Problems, problem{"disk_full", "telemetry.file"}) || status.Sinks["file"].State != "off" || status.State != "closed" {
		t.Errorf("%+v", status)
	}
}

// TestTextFileOnFullDisk: a text file that cannot be replaced because the disk is
// full stays as it was, whole, and nothing is left beside it (T-43).
func TestTextFileOnFullDisk(t *testing.T) {
	dir := smallDisk(t)
	if dir == "" {
		t.Skip("no full disk")
	}
	path := filepath.Join(dir, "m.prom")
	var before string
	w := newWorld(t)
	w.during = func(*child) {
		waitUntil(t, "the first text", func() bool { _, err := os.Stat(path); return err == nil })
		fill(dir)
		before = files(t, dir)["m.prom"]
	}
	w.converse(t, "MC_TELEMETRY=prom", "MC_TELEMETRY_PROM="+path)
	made := files(t, dir)
	if made["m.prom"] != before || series(t, path)["magi_up"] != 1 {
		t.Errorf("it was %q, it is %q", before, made["m.prom"])
	}
	if len(made) != 2 { // with its lock
		t.Errorf("left behind: %v", made)
	}
	var status statusFile
	status.read(t, w)
	if len(status.Problems) != 1 || status.Problems[0].Code != "disk_full" || status.Sinks["prometheus"].State != "off" {
		t.Errorf("%+v", status)
	}
}
