// Package attach binds a child to one session: it creates or opens it, checks
// that it belongs here, restores the saved selection, and serves its history
// (storage.md 7.3-8.4; protocol, "Owned sessions and chat history").
//
// A [Service] holds at most one [Attachment]. A failed create or open leaves
// the one before as it was. The attachment's folds follow the session's handle,
// so that a turn costs what its own records cost.
//
// The package knows no wire: it gives result bytes of pages because those are
// pre-serialized, and sentinels where the server needs codes. Runs, leases,
// appends and the file itself belong to others.
package attach
