//go:build !linux

package observed

import "testing"

// smallDisk: there is no small file system to be had for a test here.
func smallDisk(*testing.T) string { return "" }
