package agent

import (
	"context"
	"time"

	"magicode/internal/lsp"
	"magicode/internal/startup"
)

// newLSP starts nothing: the first edit of a known language does. Nil where the
// settings do not want diagnostics.
func (a *Agent) newLSP(snap *startup.Snapshot) *lsp.Manager {
	c := snap.Settings.Capabilities.LSP
	if !c.Enabled || !c.InjectDiagnostics {
		return nil
	}
	path, _ := a.lookup("PATH")
	return lsp.New(lsp.Options{
		FS: a.fs, Servers: lsp.Servers(c.Servers), Path: path, Home: snap.Paths.Home, Version: Version,
		Wait: time.Duration(c.DiagnosticsWaitMS) * time.Millisecond, Idle: time.Duration(c.IdleShutdownMinutes) * time.Minute,
	})
}

// diagnostics is what runs ask after an edit; nil for nothing.
func (r *agentRuntime) diagnostics() func(ctx context.Context, root string, changed []string) string {
	if r.lsp == nil {
		return nil
	}
	return r.lsp.Diagnose
}
