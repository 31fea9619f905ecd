//go:build !no_telemetry

package telemetry

// core is what every method asks first; nil is off.
func (t Tel) core() *core {
	if t.p == nil {
		return nil
	}
	return t.p.Load()
}
