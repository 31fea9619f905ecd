package server

import (
	"io"
	"log"
	"log/slog"
	"runtime/debug"
)

// Silence keeps libraries from writing to stderr, and keeps stack traces, which
// show arguments, out of what a crash prints (telemetry.md 2.6, runner.md 10).
// It changes the whole process: main calls it once, before anything starts.
func Silence() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard) // last: slog has just taken it over
	debug.SetTraceback("none")
}
