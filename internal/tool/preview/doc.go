// Package preview makes the small picture of an edit that a session keeps for
// whoever shows it later: a unified diff, redacted, within bounds (extensions.md
// 13.12). It gets the contents from the edit itself and reads no file. Where the
// record goes is left to the runner.
package preview
