//go:build !linux

package telemetry

// Neither can be told here without what a static program lacks.

func residentBytes() (int64, bool) { return 0, false }
func descriptors() (int, bool)     { return 0, false }
