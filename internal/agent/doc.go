// Package agent is the agent that a child is: it builds all the parts out of an
// immutable snapshot of settings, hands them to the server, and closes them in
// reverse. server, turn and runner know none of what is built here.
//
// Serve is the child of a host. It returns the exit status to package app, which
// has the command line, and does not return where a signal ended the child: it
// dies of that. ServeOn serves a connection in this process, for benchmarks;
// ServeInert is this program as the claude command's MCP server. Commands use the
// rest: New and Models, names that are safe to show, the working folder, the
// user's home, variables, ids, and where tasks and logins are kept.
package agent
