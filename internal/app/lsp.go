package app

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/lsp"
	"magicode/internal/proc"
	"magicode/internal/startup"
)

// newLSP starts nothing: the first edit of a known language does. Nil where the
// settings do not want diagnostics.
func (a *agent) newLSP(snap *startup.Snapshot) *lsp.Manager {
	c := snap.Settings.Capabilities.LSP
	if !c.Enabled || !c.InjectDiagnostics {
		return nil
	}
	path, _ := a.lookup("PATH")
	return lsp.New(lsp.Options{
		FS: a.fs, Servers: lsp.Servers(c.Servers), Path: path, Home: snap.Paths.Home, Version: version,
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

// languageServers says which servers an edit would start.
func (d *doctor) languageServers(s *config.Settings) {
	c := s.Capabilities.LSP
	if !c.Enabled || !c.InjectDiagnostics {
		return
	}
	path, _ := d.lookup("PATH")
	extensions := make(map[string][]string)
	servers := lsp.Servers(c.Servers)
	for _, ext := range slices.Sorted(maps.Keys(servers)) {
		command := servers[ext].Command
		extensions[command] = append(extensions[command], ext)
	}
	for _, command := range slices.Sorted(maps.Keys(extensions)) {
		files := "files ending in " + strings.Join(extensions[command], ", ")
		if info, err := os.Stat(proc.Program(command, path, "/")); err == nil && info.Mode().IsRegular() {
			d.say(good, "diagnostics", "an edit of %s starts %s", files, command)
		} else {
			d.say(noted, "diagnostics", "%s is not installed: there are no diagnostics of %s", command, files)
		}
	}
}
