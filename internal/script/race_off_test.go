//go:build !race

package script

const raceOn = false
