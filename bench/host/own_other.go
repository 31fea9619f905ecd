//go:build !unix

package host

import "time"

// OwnCPU is not known here.
func OwnCPU() time.Duration { return 0 }
