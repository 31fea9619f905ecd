// Package server serves protocol magi-code.local-agent on one transport.
//
// A conn owns all state of the connection under one lock: its methods alone
// change it. The goroutine that has read a frame admits, answers and writes it;
// jobs (startup, session work, a turn) run in package worker and hand their
// results to the same methods. The order of checks of each operation is a row
// of the table in ops.go, the mapping from errors to codes the table in
// codes.go, and the end of the child one value, set once.
//
// What startup, sessions and turns do is behind the interfaces of backend.go.
package server
