//go:build !race

package fdio

import (
	"syscall"
	"unsafe"
)

// Read reads from a nonblocking descriptor once. The error is a syscall.Errno:
// EAGAIN where nothing is there, EINTR. (0, nil) is the end of the input.
func Read(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_READ, fd, p)
}

// Write writes to a nonblocking descriptor once, perhaps less than all. The
// error is a syscall.Errno: EAGAIN where there is no room, EINTR, EPIPE; on
// EPIPE the thread got SIGPIPE, too.
func Write(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_WRITE, fd, p)
}

func call(trap, fd uintptr, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
