//go:build linux || darwin

package app

import "golang.org/x/sys/unix"

// mayWrite asks whether this user may make files in a folder. It makes none.
func mayWrite(dir string) error {
	return unix.Access(dir, unix.W_OK|unix.X_OK)
}
