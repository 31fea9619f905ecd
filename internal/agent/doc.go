// Package agent is the agent that a child is: it builds all the parts out of an
// immutable snapshot of settings, hands them to the server, and closes them in
// reverse. Serve is the child of a host; server, turn and runner know none of what
// is built here. It leaves the command line and the exit to package app.
package agent
