//go:build race

package app

// slowdown is what the race detector costs.
const slowdown = 15
