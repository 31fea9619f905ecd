//go:build !unix

package telemetry

import "time"

func processorTime() (user, system time.Duration, ok bool) { return 0, 0, false }
