//go:build !race

package fdio

import (
	"syscall"
	"unsafe"
)

// Read reads from a nonblocking descriptor once. The error is a syscall.Errno:
// EAGAIN where nothing is there, EINTR. (0, nil) is the end of the input.
// Where the descriptor blocks, the whole process may stand still: see Unblock.
func Read(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_READ, fd, p)
}

// Write writes to a nonblocking descriptor once, perhaps less than all. The
// error is a syscall.Errno: EAGAIN where there is no room, EINTR, EPIPE; on
// EPIPE the thread got SIGPIPE, too.
func Write(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_WRITE, fd, p)
}

// Unblock makes a descriptor nonblocking that is not. Whoever shares its open
// file description may have taken the flag away.
func Unblock(fd uintptr) error {
	flags, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	if errno == 0 && flags&syscall.O_NONBLOCK == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_SETFL, flags|syscall.O_NONBLOCK)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func call(trap, fd uintptr, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
