// Package app is the program around the parts: the argument grammar, and per
// command the construction of all parts, their closing in reverse and the exit
// status. Nothing below it exits, prints help or reads the command line.
package app
