// Package session measures the store (telemetry.md 13.4): what an append and an
// open cost, on a disk and on a file system in memory.
package session
