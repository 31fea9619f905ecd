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

// Unblock makes a descriptor nonblocking that is not. Whoever shares its open
// file description may have taken the flag away.
func Unblock(fd uintptr) error { return syscall.SetNonblock(int(fd), true) }

func positive(n int, err error) (int, error) { return max(n, 0), err }
