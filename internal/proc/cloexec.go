//go:build linux || darwin

package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// cloexecDir marks every descriptor above stderr as not inherited. Those that
// Go opened are so already; these came from whoever started this program.
func cloexecDir(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
