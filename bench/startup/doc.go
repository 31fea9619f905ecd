// Package startup measures how long a child takes from its spawn to the
// initialize response, and from the end of its work to its exit (telemetry.md
// 13.5). The test binary is the child. It has benchmarks only.
package startup
