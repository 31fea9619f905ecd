// Package runner runs one turn: it records the user's input, asks the model,
// runs the tools that it calls, and goes on until the model has answered
// (runner.md Part B).
//
// The run is a loop of loops. The inner loop (loop.go) sends requests and runs
// batches of calls until there is a reason to stop; the outer one (run.go)
// decides what the reason means. The conversation is a value: the replayed
// session, the user's input and the items of this turn.
//
// It owns the turn's records and their order, the assistant segments and their
// limits. It does not know the wire: a Sink takes Events, and turn, demo, tests
// and other front ends are sinks.
package runner
