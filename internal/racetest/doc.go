// Package racetest tells tests whether the race detector is at work: with it, code
// of ours takes many times as long, while pipes, disks and timers do not.
package racetest
