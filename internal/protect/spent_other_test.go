//go:build !unix

package protect

import (
	"testing"
	"time"
)

var began = time.Now()

// spent is the time that has passed: this system does not tell what a process used.
func spent(*testing.T) time.Duration { return time.Since(began) }
