//go:build unix && !linux

package frame

import "golang.org/x/sys/unix"

// watchEvents: macOS reports the end of a reader only to who asks for room.
const watchEvents = unix.POLLOUT
