// Package admission turns the bytes of one frame into a typed request, or into
// the answer that refuses it (runner.md 5, rows 1 to 8).
//
// Parse checks brackets, JSON, envelope, identity and protocol; a Ledger keeps
// the ids that a child has seen. The params of each operation have a strict
// decoder here, and the grammars of ids and prompts a function each. Which
// operations there are, and the order in which state, params and grammars are
// checked, belongs to package server.
package admission
