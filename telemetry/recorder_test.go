package telemetry

import (
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
)

// TestRecorder: a runtime trace is there when it was asked for, and only once
// there was a snapshot; the files of a capture are not its business.
func TestRecorder(t *testing.T) {
	for _, row := range []struct {
		when         string
		cleanup      bool // it has begun
		snap, traced bool
	}{{"off", true, true, false}, {"cleanup", true, true, true}, {"cleanup", true, false, false}, {"cleanup", false, true, false}, {"always", false, true, true}} {
		tel, dir := started(t, "MC_TELEMETRY_RUNTIME_TRACE="+row.when)
		if row.cleanup {
			tel.CleanupBegin()
		}
		if row.snap {
			tel.Snapshot()
			tel.Snapshot() // the second finds the file there
		}
		stop(t, tel, dir)
		names, err := filepath.Glob(filepath.Join(dir, "telemetry", "mc-*.runtime.trace"))
		if err != nil || (len(names) == 1) != row.traced {
			t.Errorf("%+v: %v, %v", row, names, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if info, _ := os.Stat(name); err != nil || info.Mode() != 0o600 || !strings.HasPrefix(string(b), "go 1.") {
				t.Errorf("%+v: %v, %v, %d bytes", row, info.Mode(), err, len(b))
			}
		}
		if status := string(must(os.ReadFile(filepath.Join(dir, statusName)))(t)); !strings.Contains(status, `"problems":[]`) {
			t.Errorf("%+v: %s", row, status)
		}
	}
	if trace.IsEnabled() {
		t.Error("a recorder is left")
	}
}

// TestNoRecorder: a recorder that cannot run costs its trace and a problem.
func TestNoRecorder(t *testing.T) {
	other := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	tel, dir := started(t, "MC_TELEMETRY_RUNTIME_TRACE=always")
	tel.Snapshot()
	files := stop(t, tel, dir)
	if status := string(must(os.ReadFile(filepath.Join(dir, statusName)))(t)); !strings.Contains(status, `"code":"internal"`) {
		t.Error(status)
	}
	if !strings.Contains(files["logs"], recordExit) {
		t.Error("the capture has no end")
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
