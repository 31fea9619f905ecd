//go:build race

package script

// raceOn: the engine is about ten times as slow, and what nothing interrupts
// takes ten times as long.
const raceOn = true
