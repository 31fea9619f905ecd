// Package worker runs the connection's jobs off its path: one at a time, each
// in its own goroutine, cancelled with a cause, joined by the cleanup, which
// also releases what the jobs left open.
//
// What a job does, and what its result means, belongs to package server.
package worker
