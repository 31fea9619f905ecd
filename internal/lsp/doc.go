// Package lsp tells what language servers say about files that a tool has
// changed (tools.md 6.8).
//
// A Manager starts a server when the first file of its language is changed, one
// per workspace, as a child process in a group of its own, and keeps it until it
// was idle for long or the program ends. A server gets the text of what was
// changed, and of what it has open and what changed meanwhile. What it publishes
// is cut to a few redacted lines.
//
// Nothing here fails an edit, and none waits longer than it was told: a server
// that is still starting is not waited for beyond that, and is there for the next
// edit. A server that breaks (its start, its framing, its process) three times
// is not started again. It is asked for nothing but diagnostics, and what it
// asks for is refused: it cannot edit files through us.
package lsp
