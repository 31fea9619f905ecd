package server

import (
	"io"
	"log"
	"log/slog"
	"runtime/debug"
)

// Silence keeps everything that is no frame to itself: libraries that log, and
// the runtime, which on a crash and on SIGQUIT prints the panic's value and the
// arguments of every frame (telemetry.md 2.6, runner.md 10). It changes the
// whole process: main calls it once, before anything starts.
//
// debug.SetTraceback alone is not enough: it cannot go below the level that the
// environment gives, which is one stack where nothing is set. So standard error
// becomes /dev/null as well.
func Silence() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard) // last: slog has just taken it over
	debug.SetTraceback("none")
	muteStderr()
}
