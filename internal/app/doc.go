// Package app is the command line: the argument grammar, one command after the
// other, and the exit status. The one command that a host starts, serve, is package
// agent. Nothing below it exits, prints help or reads the command line.
package app
