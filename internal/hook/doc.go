// Package hook runs the user's commands around tool calls and messages
// (tools.md 4): it builds what a command reads on stdin, runs it in a reduced
// environment and under bounds, judges how it ended, and takes the context that
// it may add to the conversation.
//
// It decides nothing about a run: the caller is told that a hook blocks or
// fails, and acts. Records go to the caller in their order. What a hook writes
// is never part of a record or a notice.
package hook
