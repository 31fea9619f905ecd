//go:build unix

package telemetry

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used.
func processorTime() (user, system time.Duration, ok bool) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0, false
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), true
}
