//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// terminate asks the child to clean up and end.
func (c *Child) terminate() error { return c.cmd.Process.Signal(syscall.SIGTERM) }

// apart starts the child in a process group of its own.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
