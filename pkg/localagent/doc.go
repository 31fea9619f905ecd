// Package localagent holds the wire types, codes and limits of protocol
// magi-code.local-agent version 1. It does no I/O.
//
// A host (see pkg/client) and the server (internal/server) share it; nothing
// in it depends on how the server works inside.
package localagent
