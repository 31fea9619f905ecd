//go:build unix

package server

import "golang.org/x/sys/unix"

// muteStderr replaces descriptor 2. Where that fails it stays as it is: nothing
// of ours writes to it.
func muteStderr() {
	fd, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = dup2(fd, 2)
	_ = unix.Close(fd)
}
