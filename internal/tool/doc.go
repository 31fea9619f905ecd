// Package tool holds what a tool is, the registry and dispatch (tools.md 1),
// labels, the path policy and the primitives by which tools read and write
// files of the workspace. One package per tool lies below it.
//
// A new tool slots in by being handed to New; only the fixed order of the
// definitions knows names.
package tool
