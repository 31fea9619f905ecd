// Package servertest has a child in this process whose teardown takes as long as
// a test wants. It is for tests of what happens at the exit.
package servertest
