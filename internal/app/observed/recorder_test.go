//go:build unix

package observed

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"magicode/internal/mcp/mcptest"
	"magicode/pkg/localagent"
)

// TestRuntimeTrace: a child whose cleanup comes near its bound leaves a runtime
// trace beside its capture, which holds functions and nothing of what was said.
// The child is stopped for as long: a cleanup of ours takes that time otherwise
// only when something is broken.
func TestRuntimeTrace(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"cleanup", "always"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w, name, trace := traced(t, when)
			if !strings.HasPrefix(trace, "go 1.") || !strings.Contains(trace, "magicode/internal/mcp.") {
				t.Fatalf("%q has %d bytes that are no runtime trace of ours", name, len(trace))
			}
			holdsNone(t, w, name, trace)
			dir := filepath.Join(w.home, "state", "telemetry")
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if out, _, _ := w.trace(t, w.home, "list"); !strings.Contains(out, "runtime trace ") {
				t.Errorf("list: %s", out)
			}
			if out, _, _ := w.trace(t, w.home); !strings.Contains(out, "go tool trace "+name) {
				t.Errorf("explain: %s", out)
			}
			archive := filepath.Join(t.TempDir(), "c.zip")
			if out, notes, status := w.trace(t, w.home, "pack", "-o", archive, dir); status != 0 || !strings.Contains(out, name+" is binary and cannot be checked") {
				t.Fatalf("pack: %s%s", out, notes)
			}
			z, err := zip.OpenReader(archive)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			for _, f := range z.File {
				if strings.HasSuffix(f.Name, ".trace") {
					t.Errorf("%s is in the archive", f.Name)
				}
			}
		})
	}
}

// traced is a world with a runtime trace in it. A child on a busy machine can be
// done with its cleanup in the moment in which it goes on: then there is none, and
// another one is tried.
func traced(t *testing.T, when string) (w *world, name, trace string) {
	t.Helper()
	for range 5 {
		w = newWorld(t)
		w.serveOne(t, "notes", mcptest.Stubborn)
		w.ending = func(c *child) {
			time.Sleep(100 * time.Millisecond)
			_ = c.cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(localagent.CleanupWait - 225*time.Millisecond)
			_ = c.cmd.Process.Signal(syscall.SIGCONT)
		}
		w.converse(t, "MC_TELEMETRY=file", "MC_TELEMETRY_RUNTIME_TRACE="+when)
		for n, text := range files(t, w.home) {
			if strings.HasSuffix(n, ".runtime.trace") {
				return w, n, text
			}
		}
	}
	return w, "", ""
}
