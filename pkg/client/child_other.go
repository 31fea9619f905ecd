//go:build !unix

package client

import "os/exec"

// terminate ends the child: this system has no softer way.
func (c *Child) terminate() error { return c.cmd.Process.Kill() }

// apart: this system's consoles have other groups, which are not ours to change.
func apart(*exec.Cmd) {}
