// Package telemetry is the facade through which every package reports spans and
// metrics, and the hub behind it. It is off unless the user's own environment
// or the global settings ask for a sink; off, every method is one nil check:
// no file, no goroutine, no allocation (telemetry.md 3.1, 12).
//
// No OpenTelemetry type is in this API. What a caller can hand over is closed:
// keys, words, codes and kinds are integers that stand for rows of tables in
// names.go, numbers and booleans are what they are, and a configured name is a
// UserName, which leaves the process hashed unless the user said otherwise
// (telemetry.md 7). Error texts, paths, prompts and arguments have no way in.
//
// The package owns the capture files, the Prometheus text file and the status
// file, by raw descriptors and rules of its own (telemetry.md 8.3): it may be
// on while the settings cannot even be read, and it must not share a failure
// with the state files. It never writes to stdout or stderr and never returns
// an error: a sink that fails is off.
//
// A Tel and a Span may be used from any goroutine.
package telemetry
