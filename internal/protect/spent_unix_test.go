//go:build unix

package protect

import (
	"syscall"
	"testing"
	"time"
)

// spent is the processor time of this process: what a test took, whatever else
// the machine does.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
