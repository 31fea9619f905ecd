// Package client is the host's side of protocol magi-code.local-agent: it owns
// one serve child for its whole life and keeps the obligations that the
// protocol lays on a client.
//
//   - Every frame is held against the protocol before anything changes: size,
//     UTF-8, JSON without duplicate names, version, instance, sequence, known
//     events, enumerations and codes. A violation ends the connection: Err
//     tells which (fail closed).
//   - Responses are matched by id; ids are never used twice.
//   - A Run keeps the assistant's messages by the rules of reconciliation:
//     complete reconciliations replace deltas, missing parts are never shown as
//     a whole message, and nothing is final before run.finished.
//
// Events must be read all the time: responses wait behind events that nobody
// takes, and after EventWait the connection ends. A violation, a stalled host and
// a stalled child all end the child's input, and with it the child.
//
// A Client is safe for concurrent use; a Run is not. A Client's one goroutine
// ends with the child's output; Child.Close waits for it.
package client
