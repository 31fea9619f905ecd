// Package observed holds whole children against what telemetry promises: that
// nothing of it is seen on the wire, that a capture tells the story of a turn,
// and that no content is in any file it makes. It has tests only.
package observed
