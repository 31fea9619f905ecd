//go:build !unix

package client

// terminate ends the child: this system has no softer way.
func (c *Child) terminate() error { return c.cmd.Process.Kill() }
