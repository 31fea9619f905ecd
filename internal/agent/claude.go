package agent

import (
	"context"
	"net/http"
	"os"
	"time"

	"magicode/internal/models"
	"magicode/internal/provider"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/factory"
	"magicode/internal/tokens"
	"magicode/internal/vfs"
)

// claude is the user's own claude command.
func (a *Agent) claude() *claude.Command {
	home, _ := a.lookup("HOME")
	if home == "" {
		home = userHome()
	}
	return &claude.Command{FS: a.fs, Lookup: a.lookup, Environ: a.environ, Home: home}
}

// claudeMaker makes the provider claude-subscription. It asks the command for
// its login each time, as a turn's start does (providers.md 4.3).
func claudeMaker(a *Agent, m *models.Models, client http.RoundTripper, semantic time.Duration) func(context.Context, provider.Selection, provider.Purpose) (provider.Provider, error) {
	return func(ctx context.Context, sel provider.Selection, _ provider.Purpose) (provider.Provider, error) {
		if !m.Claude.Ready(ctx) {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			return nil, factory.ErrNotReady
		}
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		counter := tokens.For(sel.Provider, sel.Model)
		return claude.New(claude.Config{
			Command: m.Claude, FS: a.fs, Executable: exe, Dir: a.cwd, TempDir: os.TempDir(), HTTP: client, Semantic: semantic, NewID: NewID,
			Count: func(items []provider.Item, tools []provider.ToolDef) int {
				return counter.Items(items) + counter.Tools(tools)
			},
		}), nil
	}
}

// maxInventoryBytes bounds the file of tools that we wrote for ourselves.
const maxInventoryBytes = 8 << 20

// ServeInert is this program as the claude command's MCP server: it does
// nothing but list tools.
func ServeInert(inventory string, stdin, stdout *os.File) error {
	data, err := vfs.ReadFile(vfs.OS(), inventory, maxInventoryBytes)
	if err != nil {
		return err
	}
	return claude.ServeInert(stdin, stdout, data)
}
