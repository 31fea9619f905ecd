//go:build !unix

package server

import "os"

// Notify returns no signals: serve does not run here.
func Notify() Signals { return Signals{} }

// Raise does nothing: serve does not run here.
func Raise(os.Signal) {}
