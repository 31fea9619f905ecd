//go:build linux || darwin

package lease

import "syscall"

// Alive is kill(pid, 0): only "no such process" means dead.
func (*system) Alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
