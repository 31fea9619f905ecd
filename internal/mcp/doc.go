// Package mcp connects the approved MCP servers of a snapshot and offers their
// tools (tools.md 6, decision 45).
//
// Connect starts all servers at once; one failure stops the others. A Manager
// owns the connections for the life of the child: stdio servers are child
// processes (internal/proc), HTTP servers speak Streamable HTTP (internal/httpx).
// Stop tells every server to end before it waits for any.
//
// The layers, from below: a transport moves whole messages (stdio.go, http.go),
// a peer matches answers to requests and answers the server's own requests
// (peer.go), a session does the handshake and lists the tools (session.go), a
// remote is one tool (remote.go), whose results are projected and bounded
// (project.go).
//
// A server is not trusted: what it writes is bounded before it is parsed,
// parsed strictly, and redacted before anybody sees it. Nothing that it does or
// leaves undone holds a caller longer than the caller's context or the
// definition's timeout.
//
// OAuth tokens and the interactive login are internal/mcp/oauth's business; no
// connection ever asks a user for anything.
package mcp
