package startup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Locks takes the lock files of settings and credentials. *lease.Manager is one.
type Locks interface {
	Acquire(ctx context.Context, target string, wait time.Duration) (*lease.Lease, error)
}

// Env is what a start needs of the world.
type Env struct {
	FS     vfs.FS
	Locks  Locks
	Lookup func(name string) (string, bool) // as os.LookupEnv
	Now    func() time.Time
	CWD    string // canonical: Canonical, once at launch
	PID    int
	UID    int // effective user; below 0 where there is none
	// PasswordHome is asked for the home directory when HOME is empty. May be nil.
	PasswordHome func() (string, error)
	// Connect starts the approved MCP servers; any error is ErrMCP. What it
	// returns is closed when a later step fails, else it is the snapshot's. It is
	// not called without servers. Nil: servers are not connected.
	Connect func(ctx context.Context, servers []config.MCPServer) (io.Closer, error)
	// ClaudeReady asks the claude command whether it is logged in
	// (providers.md 4.2), whose variables were already found free of conflicts.
	// Nil: it is not.
	ClaudeReady func(ctx context.Context) bool
	// Telemetry is started, for this child, as soon as the global settings were
	// read, whatever they held.
	Telemetry telemetry.Tel
	Child     telemetry.Identity
}

// Canonical resolves a working directory once, at launch.
func Canonical(fsys vfs.FS, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", errors.New("working directory is not absolute")
	}
	out, err := fsys.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	return out, nil
}

// acquire adapts the lease manager to the packages that read under a lock.
func (e Env) acquire(ctx context.Context, target string, wait time.Duration) (func() error, error) {
	l, err := e.Locks.Acquire(ctx, target, wait)
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}

func (e Env) config() config.Env {
	return config.Env{
		FS: e.FS, Lookup: e.Lookup, Lock: e.acquire, CWD: e.CWD, PID: e.PID, UID: e.UID, PasswordHome: e.PasswordHome,
	}
}

func (e Env) store(path string) *auth.Store {
	return auth.NewStore(e.FS, path, e.acquire, e.Now)
}
