//go:build no_telemetry

package telemetry

// core is nil always: every method of Tel compiles to nothing. The build tag
// no_telemetry exists to measure against (bench/cmd/overhead), not to ship.
func (t Tel) core() *core { return nil }
