//go:build unix && (!linux || race)

package fdio

import "syscall"

// The race detector takes what a process writes to itself, through a pipe or a
// socket, for an order of what stands before and behind. It learns of it in
// package syscall only.

// Read reads from a nonblocking descriptor once. The error is a syscall.Errno:
// EAGAIN where nothing is there, EINTR. (0, nil) is the end of the input.
func Read(fd uintptr, p []byte) (int, error) { return positive(syscall.Read(int(fd), p)) }

// Write writes to a nonblocking descriptor once, perhaps less than all. The
// error is a syscall.Errno: EAGAIN where there is no room, EINTR, EPIPE; on
// EPIPE the thread got SIGPIPE, too.
func Write(fd uintptr, p []byte) (int, error) { return positive(syscall.Write(int(fd), p)) }

// Shared is a descriptor whose open file description others may hold, and make
// block: a pipe that a parent made. The flag is set again before each call. The
// zero value is ready.
type Shared struct{}

// Read is Read of a descriptor that is shared.
func (*Shared) Read(fd uintptr, p []byte) (int, error) {
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return 0, err
	}
	return Read(fd, p)
}

// Write is Write to a descriptor that is shared.
func (*Shared) Write(fd uintptr, p []byte) (int, error) {
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return 0, err
	}
	return Write(fd, p)
}

func positive(n int, err error) (int, error) { return max(n, 0), err }
