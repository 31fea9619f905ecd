// Package memfs is a file system in memory for tests and benchmarks. It keeps
// two states: what a process sees, and what would still be there after a power
// cut. Crash goes from the first to the second, in one of several ways that
// real file systems are known for.
//
// It models devices, inodes, link counts, modes, owners, times, symbolic and
// hard links and FIFOs as far as this program looks at them. There is one user,
// the process's effective one, and its owner permission bits are obeyed.
package memfs
