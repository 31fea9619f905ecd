// Package lease owns the lock files that this program shares with other
// programs on one home (storage.md 12.2, decision 18): `<dir>/.<name>.lock`
// stands for the exclusive use of `<dir>/<name>`. It creates them, keeps their
// times fresh, removes those of dead owners, and unlinks its own.
//
// A lock says who may act, not what happened: callers check the state of the
// file that it protects after they have it.
package lease
