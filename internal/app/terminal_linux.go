package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether f is a terminal, at which a person may sit. Being a
// character device is not enough: /dev/null is one.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
