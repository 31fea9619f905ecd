// Package judge asks typed questions about a state and gets typed answers
// (tools.md 7.1).
//
// An Assessor answers; Client is the one that asks the remote judgement
// service, over HTTPS, and keeps its answers in a cache of files. What is asked,
// and what an answer leads to, is the callers' business: packages remote (shell
// commands) and injection (tool results).
//
// An answer is held against its question before anybody sees it: one that is
// missing, of another kind or out of its range makes the whole assessment fail.
// A failure is an *Error, whose text and word hold nothing of what was sent,
// received or configured.
package judge
