// Package write creates and replaces whole files: tools.md 1.10. The path
// policy, the locks and the replacement itself belong to internal/tool.
package write
