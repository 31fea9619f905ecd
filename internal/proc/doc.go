// Package proc starts and ends every child process of the program: commands of
// the bash tool, hooks, MCP servers, language servers.
//
// A child gets its own process group, a marker in its environment and no
// descriptor but its three streams. Its output is drained for its whole life
// and kept up to a bound. However it ends (by itself, by its time limit, by
// too much output, by the caller), everything that it started and left behind
// is ended with it: SIGTERM, 50 ms, SIGKILL, at most 1 s. Then its pipes get
// 500 ms to run dry. What is left after that is named in Result.Warning.
//
// On Linux the program makes itself the reaper of its descendants, so that
// processes which left the group (setsid, double fork) come back to it, are
// recognised by group or marker, and are ended too. One that cleared its
// environment as well is ended as soon as no other child is running, at the
// latest by Shutdown. On macOS there is no such facility: processes that left
// both the group and the tree of the command survive. After a SIGKILL of this
// program nothing can be ended on either system.
//
// Nothing here polls while a command runs: a child costs one thread that waits
// and a goroutine per stream.
package proc
