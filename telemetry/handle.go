//go:build !no_telemetry

package telemetry

// Compiled: the build has telemetry. Tests ask before they expect a span.
const Compiled = true

// core is what every method asks first; nil is off.
func (t Tel) core() *core {
	if t.p == nil {
		return nil
	}
	return t.p.Load()
}
