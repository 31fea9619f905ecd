// Package exchange makes one provider call: up to four attempts of one HTTP
// request, each with a parser of its own, watched while it waits and streams
// (providers.md 7.2, 7.3, 8 and 9, decision 11).
//
// It owns attempts, waits, watchdogs, the merging of deltas of one network
// read (decision 42), the wording of errors and the identity records. How a
// body looks and what an event means belongs to the package of each API, which
// hands in a Call with a Parser.
package exchange
