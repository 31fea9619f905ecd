//go:build unix

package client

import "syscall"

// terminate asks the child to clean up and end.
func (c *Child) terminate() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
