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
// A Client is safe for concurrent use. Its one reader goroutine ends with the
// child; Close waits for it.
package client
