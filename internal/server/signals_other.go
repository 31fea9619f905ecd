//go:build !unix

package server

import "os"

// Notify returns nil: serve does not run here.
func Notify() <-chan os.Signal { return nil }

func restoreDefaults() {}

// Raise does nothing: serve does not run here.
func Raise(os.Signal) {}
