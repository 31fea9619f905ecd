// Package lease owns the lock files that this program shares with other
// programs on one home (storage.md 12.2, decision 18): `<dir>/.<name>.lock`
// stands for the exclusive use of `<dir>/<name>`. It creates them, keeps their
// times fresh, removes those of dead owners, and unlinks its own.
//
// A lock that is taken for each record of a session is a second name of the one
// that the session holds anyway (AcquireBeside): file systems are slow to make and
// remove files at that rate, the more so the more of them were just removed.
//
// A lock says who may act, not what happened: callers check the state of the
// file that it protects after they have it.
package lease
