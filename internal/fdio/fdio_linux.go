//go:build !race

package fdio

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a nonblocking descriptor once. The error is a syscall.Errno:
// EAGAIN where nothing is there, EINTR. (0, nil) is the end of the input.
// Where the descriptor blocks, the whole process may stand still: see Shared.
func Read(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_READ, fd, p)
}

// Write writes to a nonblocking descriptor once, perhaps less than all. The
// error is a syscall.Errno: EAGAIN where there is no room, EINTR, EPIPE; on
// EPIPE the thread got SIGPIPE, too.
func Write(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_WRITE, fd, p)
}

// Shared is a descriptor whose open file description others may hold, and make
// block: a pipe that a parent made. Its calls never wait, whatever the flag says
// and whoever changes it in between; they are asked not to one by one, where the
// kernel takes that for such a file, as newer ones do for pipes, and else the flag
// is looked at before each. The zero value is ready.
type Shared struct {
	refused atomic.Bool // a call cannot be asked not to wait
}

// Read is Read of a descriptor that is shared.
func (s *Shared) Read(fd uintptr, p []byte) (int, error) {
	return s.call(unix.SYS_PREADV2, syscall.SYS_READ, fd, p)
}

// Write is Write to a descriptor that is shared.
func (s *Shared) Write(fd uintptr, p []byte) (int, error) {
	return s.call(unix.SYS_PWRITEV2, syscall.SYS_WRITE, fd, p)
}

func (s *Shared) call(asked, plain, fd uintptr, p []byte) (int, error) {
	if s.refused.Load() {
		if err := unblock(fd); err != nil {
			return 0, err
		}
		return call(plain, fd, p)
	}
	const here = ^uintptr(0) // the file's own position, in both halves of the argument
	vector := syscall.Iovec{Base: unsafe.SliceData(p)}
	vector.SetLen(len(p))
	n, _, errno := syscall.RawSyscall6(asked, fd, uintptr(unsafe.Pointer(&vector)), 1, here, here, unix.RWF_NOWAIT)
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EINVAL, syscall.EPERM: // the last one from a filter of system calls
		s.refused.Store(true)
		return s.call(asked, plain, fd, p)
	}
	return 0, errno
}

func unblock(fd uintptr) error {
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
