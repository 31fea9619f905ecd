// Package session is the append-only store of sessions: one JSON Lines file per
// session under `sessions/` (storage.md 5 and 6), shared with other programs
// through lock files. It owns reading, appending, recovery of torn tails,
// rotation by compaction, the fingerprint that finds outside changes, and the
// sidecar. What records mean is left to the folds that are given to it.
//
// Promises, held by a test that spoils every file operation in turn: what was
// called Durable survives, every other Outcome tells the truth, and no single
// fault makes a session unopenable.
package session
