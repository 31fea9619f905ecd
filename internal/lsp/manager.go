package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"magicode/internal/vfs"
)

// Options of New.
type Options struct {
	FS      vfs.FS
	Servers map[string]Server // by extension
	Path    string            // PATH of the servers
	Home    string            // HOME of the servers; "" for none
	Version string            // of this program
	Wait    time.Duration     // what an edit may be delayed
	Idle    time.Duration     // without use a server ends; above 0
}

const (
	// maxFailures is how often a server may break: tools.md 6.8.
	maxFailures = 3
	// maxServers bounds the servers that run at a time.
	maxServers = 16
)

// key names a server: its program, for a workspace.
type key struct{ command, root string }

// Manager owns the language servers of a program. Its methods are safe for
// concurrent use. The zero value and nil have no servers.
type Manager struct {
	opt Options
	all sync.WaitGroup

	mu       sync.Mutex
	servers  map[key]*server
	failures map[key]int
	closed   bool
}

// New returns a manager. It starts nothing.
func New(o Options) *Manager {
	return &Manager{opt: o, servers: make(map[key]*server), failures: make(map[key]int)}
}

// Diagnose tells what servers say about files that were changed in a workspace,
// both canonical: text for a tool's result, "" for nothing. It takes at most
// Options.Wait, and less when ctx ends.
func (m *Manager) Diagnose(ctx context.Context, root string, changed []string) string {
	if m == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, m.opt.Wait)
	defer cancel()
	groups, order := m.group(root, changed)
	found := make([][]report, len(order))
	var asked sync.WaitGroup
	for i, s := range order {
		asked.Go(func() { found[i] = s.diagnose(ctx, groups[s]) })
	}
	asked.Wait()
	var all []report
	for _, f := range found {
		all = append(all, f...)
	}
	return render(all)
}

// group divides files by their servers, which it starts.
func (m *Manager) group(root string, changed []string) (groups map[*server][]string, order []*server) {
	groups = make(map[*server][]string)
	for _, path := range changed {
		conf, ok := m.opt.Servers[extensionOf(path)]
		if !ok || !inside(root, path) {
			continue
		}
		s := m.server(root, conf)
		if s == nil {
			continue
		}
		if groups[s] == nil {
			order = append(order, s)
		}
		groups[s] = append(groups[s], path)
	}
	return groups, order
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// server returns the running server of a workspace, or starts it; nil when it
// may not be started.
func (m *Manager) server(root string, conf Server) *server {
	k := key{conf.Command, root}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.servers[k]; s != nil && !s.isDead() {
		return s
	}
	if m.closed || m.failures[k] >= maxFailures || len(m.servers) >= maxServers {
		return nil
	}
	s := newServer(m, k, conf)
	m.servers[k] = s
	m.all.Go(s.run)
	return s
}

// gone forgets a server that has ended.
func (m *Manager) gone(s *server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.servers[s.key] == s {
		delete(m.servers, s.key)
	}
	if s.cause != nil {
		m.failures[s.key]++
	}
}

// Tell asks all servers to end, and waits for none. No server is started after it.
func (m *Manager) Tell() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, s := range m.servers {
		s.end(nil)
	}
}

// Stop is Tell, and waits until all servers have ended, or for ctx. It may be
// called more than once.
func (m *Manager) Stop(ctx context.Context) error {
	if m == nil {
		return nil
	}
	m.Tell()
	done := make(chan struct{})
	go func() { // ends with the servers, whose end is bounded by package proc
		defer close(done)
		m.all.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
