// Package history measures the way from a session file to the pages of its
// history: reading, projecting, paging, and finding out that the file is still
// the one that was read.
package history
