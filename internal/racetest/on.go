//go:build race

package racetest

// On: this binary runs with the race detector.
const On = true

// Slowdown is how many times as long things may take with it.
const Slowdown = 15
