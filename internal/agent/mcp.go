package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/mcp"
	"magicode/internal/mcp/oauth"
	"magicode/internal/tool"
)

// mcpServers are the connected servers of a snapshot.
type mcpServers struct {
	*mcp.Manager
	http *httpx.Client
}

// connectServers implements startup.Env.Connect.
func (a *Agent) connectServers(ctx context.Context, servers []config.MCPServer) (io.Closer, error) {
	store, err := a.logins()
	if err != nil {
		return nil, err
	}
	// An answer's headers may come as late as the answer: only the definition's
	// own timeout, 300 s at most, bounds a request.
	client := httpx.New(httpx.Options{Environ: a.environ, HeaderTimeout: MaxServerTimeout})
	m, err := mcp.Connect(ctx, mcp.Options{
		Lookup: a.lookup, Dir: a.cwd, Version: Version, HTTP: client, Auth: Authorizer(store, client), Tel: a.tel,
	}, servers)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &mcpServers{Manager: m, http: client}, nil
}

// logins are the stored ones of MCP servers.
func (a *Agent) logins() (*oauth.Store, error) {
	paths, _, err := config.ResolveRoot(config.Env{FS: a.fs, Lookup: a.lookup, CWD: a.cwd, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: PasswordHome})
	if err != nil {
		return nil, err
	}
	return &oauth.Store{FS: a.fs, Dir: TokenDir(paths), Lock: func(ctx context.Context, target string, wait time.Duration) (func() error, error) {
		l, err := a.leases.Acquire(ctx, target, wait)
		if err != nil {
			return nil, err
		}
		return l.Release, nil
	}}, nil
}

// MaxServerTimeout is the longest timeout of a definition (storage.md 4.1).
const MaxServerTimeout = 300 * time.Second

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

// TokenDir is where logins of MCP servers are (storage.md 4.4).
func TokenDir(p config.Paths) string { return filepath.Join(p.Root, "mcp-tokens") }

// Authorizer gives the stored logins to connections.
func Authorizer(store *oauth.Store, client *httpx.Client) func(config.MCPServer) mcp.Authorizer {
	return func(s config.MCPServer) mcp.Authorizer { return oauth.NewTokens(store, s, client, time.Now) }
}
