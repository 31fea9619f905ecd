package telemetry

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// residentBytes is the memory of this process that is in the machine's.
func residentBytes() (int64, bool) {
	fd, err := unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	var buf [128]byte
	n, err := unix.Read(fd, buf[:])
	fields := bytes.Fields(buf[:max(n, 0)])
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// descriptors is how many files, pipes and sockets are open.
func descriptors() (n int, ok bool) {
	fd, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	for {
		k, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return 0, false
		}
		if k <= 0 {
			return n - 1, n > 0 // without the one that counts
		}
		_, count, _ := unix.ParseDirent(buf[:k], -1, nil)
		n += count
	}
}
