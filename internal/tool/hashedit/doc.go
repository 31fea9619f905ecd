// Package hashedit changes lines of files that were read before: tools.md 1.9.
//
// A patch is parsed (parse.go, header.go, op.go) into sections, one per file.
// Each is prepared in memory: its operations become edits of the tagged text
// (apply.go, repair.go, block.go, block_tree.go), which are carried over to the present text
// if the file changed since (stale.go). Only when all sections are prepared,
// under all locks, are they committed one after the other (commit.go).
package hashedit
