//go:build race

package turn

// raceEnabled: the race detector makes each hook many times as slow, and a pipe not.
const raceEnabled = true
