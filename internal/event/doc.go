// Package event is the bounded channel between a run and the connection, and
// the wire form of a run's events.
//
// A run puts events into a Queue: deltas with Try, which never waits, all
// others with Emit, which waits at most 2,000 ms for room. The connection takes
// them while its output has room. What the events mean, and when they are due,
// belongs to package turn; the envelope around them to package server.
package event
