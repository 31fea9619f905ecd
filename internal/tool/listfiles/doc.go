// Package listfiles names the direct children of a directory: tools.md 1.13.
package listfiles
