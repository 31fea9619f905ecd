package worker

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Panic says where a job panicked. It never holds the panic's value, which may
// contain user text.
type Panic struct {
	Function string // with its package path
	File     string // base name
	Line     int
}

// Here returns the place of the panic that the calling deferred function has
// recovered: the first function below the runtime's own.
func Here() Panic {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	seen := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		switch {
		case f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit":
			seen = true
		case seen && !inRuntime:
			return Panic{Function: f.Function, File: filepath.Base(f.File), Line: f.Line}
		}
		if !more {
			return Panic{}
		}
	}
}
