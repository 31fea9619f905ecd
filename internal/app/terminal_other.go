//go:build !linux && !darwin

package app

import "os"

// isTerminal: nobody is asked where a terminal cannot be told from a file.
func isTerminal(*os.File) bool { return false }
