//go:build !race

package agenttest

// Slowdown is how many times as long things may take with the race detector.
const Slowdown = 1
