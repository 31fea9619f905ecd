// Package astgrep searches code by its structure and outlines files: tools.md
// 1.14. It only reads.
//
// A pattern is code with metavariables. It is parsed as every construct of the
// language that it can be (pattern.go) and compared with the nodes of each file
// (match.go); a rewrite is filled in for a preview and never written
// (rewrite.go). An outline lists a file's symbols (outline.go, symbols.go).
// Which files are read, and within which bounds, is in scan.go; the rows and
// facts of a result are in search.go and output.go.
package astgrep
