// Package find looks for files and directories by parts of their path:
// tools.md 1.12. What is walked is decided by internal/ignore.
package find
