package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/mcp"
	"magicode/internal/tool"
)

// mcpServers are the connected servers of a snapshot.
type mcpServers struct {
	*mcp.Manager
	http *httpx.Client
}

// connectServers implements startup.Env.Connect.
func (a *agent) connectServers(ctx context.Context, servers []config.MCPServer) (io.Closer, error) {
	// An answer's headers may come as late as the answer: only the definition's
	// own timeout, 300 s at most, bounds a request.
	client := httpx.New(httpx.Options{Environ: a.environ, HeaderTimeout: maxServerTimeout})
	m, err := mcp.Connect(ctx, mcp.Options{
		Lookup: a.lookup, Dir: a.cwd, Version: version, HTTP: client, Tel: a.tel,
	}, servers)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &mcpServers{Manager: m, http: client}, nil
}

// maxServerTimeout is the longest timeout of a definition (storage.md 4.1).
const maxServerTimeout = 300 * time.Second

// Stop ends the servers within ctx.
func (s *mcpServers) Stop(ctx context.Context) error {
	return errors.Join(s.Manager.Stop(ctx), s.http.Close())
}

// Close implements io.Closer, for a start that fails after the connection.
func (s *mcpServers) Close() error { return errors.Join(s.Manager.Close(), s.http.Close()) }

// serverTools are the tools of the snapshot's servers, which come after the
// built-in ones.
func serverTools(servers io.Closer) []tool.Tool {
	s, ok := servers.(*mcpServers)
	if !ok {
		return nil
	}
	return slices.Clip(s.Tools())
}

// stopWait is what the servers get of the cleanup wait; the rest is for other
// children, and for writers and leases.
const stopWait = 1500 * time.Millisecond

// stopServers ends them before anything that they may still use is released.
func stopServers(ctx context.Context, servers io.Closer) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	if s, ok := servers.(*mcpServers); ok {
		return s.Stop(ctx)
	}
	return nil
}
