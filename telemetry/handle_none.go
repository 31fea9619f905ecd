//go:build no_telemetry

package telemetry

// Compiled: the build has telemetry. Tests ask before they expect a span.
const Compiled = false

// core is nil always: every method of Tel compiles to nothing. The build tag
// no_telemetry exists to measure against (bench/cmd/overhead), not to ship.
func (t Tel) core() *core { return nil }
