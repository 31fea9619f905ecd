package lease

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

// system asks the kernel's process table.
type system struct{}

func newSystem() *system { return &system{} }

// Start returns the process's start in microseconds since the epoch.
func (*system) Start(pid int) (string, bool) {
	kp, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", true
	}
	if kp.Proc.P_stat == zombie {
		return "", false
	}
	at := kp.Proc.P_starttime
	return strconv.FormatInt(int64(at.Sec)*1_000_000+int64(at.Usec), 10), true
}
