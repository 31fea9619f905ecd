//go:build !unix

package server

// muteStderr does nothing: serve does not run here.
func muteStderr() {}
