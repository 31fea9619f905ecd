package telemetry_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/server/servertest"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// TestSlowDisk: a disk that does not answer, from the start on or since the
// cleanup began, does not keep a child: with a teardown that does not end it is
// gone 2,010 ms after the wait began at the latest, with one that ends as soon as
// that plus what files get (T-23). Time is the bubble's, so the bounds are exact.
func TestSlowDisk(t *testing.T) {
	for _, row := range []struct {
		name     string
		slow     bool // from the start on
		teardown time.Duration
		min, max time.Duration
	}{
		{"from the start", true, time.Hour, localagent.CleanupWait, localagent.CleanupWait + 10*time.Millisecond},
		{"from the cleanup", false, time.Hour, localagent.CleanupWait, localagent.CleanupWait + 10*time.Millisecond},
		{"a teardown that ends", true, 300 * time.Millisecond, 350 * time.Millisecond, 350 * time.Millisecond},
		{"a teardown that ends late", true, 1995 * time.Millisecond, 2005 * time.Millisecond, 2005 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := filepath.Join(t.TempDir(), "state")
				if err := os.Mkdir(state, 0o700); err != nil {
					t.Fatal(err)
				}
				var slow atomic.Bool
				slow.Store(row.slow)
				answer, over := make(chan struct{}), make(chan struct{})
				d := &servertest.Teardown{Tel: telemetry.New([]string{"MC_TELEMETRY=file"}, time.Now())}
				telemetry.SlowDisk(d.Tel, slow.Load, answer)
				d.Start = func() {
					d.Tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-1", StateDir: state, Version: "1"})
				}
				d.Wait = func() {
					slow.Store(true)
					select {
					case <-over:
					case <-time.After(row.teardown):
					}
				}
				exit, took := d.Play(t)
				if exit.Detached != (row.teardown > localagent.CleanupWait) || took < row.min || took > row.max {
					t.Errorf("detached %v after %v", exit.Detached, took)
				}
				close(over)
				close(answer) // a process would be gone
				synctest.Wait()
				logs, err := filepath.Glob(filepath.Join(state, "telemetry", "mc-*.logs.jsonl"))
				if err != nil || len(logs) != 1 {
					t.Fatalf("%v, %v", logs, err)
				}
				if b, err := os.ReadFile(logs[0]); err != nil || strings.Count(string(b), `"eventName":"magi.exit"`) != 1 {
					t.Errorf("%v: what was kept back is not in the log: %s", err, b)
				}
			})
		})
	}
}
