// Package history turns the records of a session into the chat history that a
// host is shown (storage.md 7; protocol, "Owned sessions and chat history").
//
// A [Fold] follows a session: it takes every record once, in file order, first
// those read and then those appended. It holds text only for the turn that is
// still open. When a turn closes, its messages are redacted, split into parts
// and written as entry bytes, page by page, and their text is dropped; so
// nothing holds both a file and its projection, and a snapshot costs what the
// open turn's records cost, however long the session is.
//
// A [Snapshot] is an immutable view of a fold at one moment. Its pages are
// bytes that go to the wire as they are: serving one is a copy.
//
// The package knows nothing of files, leases, attachments or the wire's
// envelope; attach does.
package history
