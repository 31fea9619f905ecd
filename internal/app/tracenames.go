package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"magicode/internal/agent"
	"magicode/internal/config"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// traceNames gathers the names that a capture of this home may hold as hashes
// (telemetry.md 7.3), from the files as they are: it makes none. Settings that
// cannot be read take their names with them, and no others.
func traceNames() (*telemetry.Resolver, error) {
	env, err := settingsEnv()
	if err != nil {
		return nil, err
	}
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		return nil, err
	}
	salt, ok := telemetry.ReadSalt(paths.State())
	if !ok {
		return nil, fmt.Errorf("%s has no salt that can be read (telemetry.salt); a capture can only be resolved in the home it was made in", paths.State())
	}
	var names []telemetry.UserName
	sessions := paths.Sessions()
	for _, dir := range []string{sessions, agent.ChildDir(sessions)} {
		for _, id := range stems(env.FS, dir, ".jsonl") {
			if session.ValidID(id) {
				names = append(names, telemetry.SessionID(id))
			}
		}
	}
	for _, name := range storedTools(env.FS, sessions, agent.ChildDir(sessions)) {
		_, safe := redact.SafeName(name)
		names = append(names, telemetry.ToolName(name, safe))
	}
	for _, id := range stems(env.FS, filepath.Join(paths.Root, "subagents"), ".md") {
		names = append(names, telemetry.AgentName(id))
	}
	loaded, err := config.Look(env)
	if loaded == nil || err != nil {
		return telemetry.NewResolver(salt, names), nil
	}
	return telemetry.NewResolver(salt, append(names, configuredNames(env, loaded)...)), nil
}

// stems are the names in a folder that end like this, without their ends.
func stems(fsys vfs.FS, dir, end string) (out []string) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil // a folder that is not there has no names
	}
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), end); ok {
			out = append(out, stem)
		}
	}
	return out
}

// configuredNames are those of MCP servers, here and wherever one was approved,
// of custom providers, and of their models.
func configuredNames(env config.Env, l *config.Loaded) (names []telemetry.UserName) {
	for _, s := range l.MCP.Servers {
		names = append(names, telemetry.ServerName(s.Name))
	}
	for _, s := range l.MCP.Held {
		names = append(names, telemetry.ServerName(s.Name))
	}
	s := l.Settings
	for _, approved := range s.Capabilities.MCPApprovals {
		for name := range approved {
			names = append(names, telemetry.ServerName(name))
		}
	}
	desk := newDesk(env, l)
	defer desk.http.Close()
	var models []string
	for id, custom := range s.Providers.Custom {
		names = append(names, telemetry.ProviderName(id))
		models = append(models, custom.ExtraModels...)
		if c := desk.models.Catalog(id); c != nil {
			for i := range c.Entries {
				models = append(models, c.Entries[i].Model)
			}
		}
	}
	for _, m := range []*string{s.Agent.Model.Model, s.Agent.Compaction.Model, s.Agent.Summarizer.Model, s.Agent.Side.Model} {
		if m != nil {
			models = append(models, *m)
		}
	}
	for name := range s.Agent.Context.Overrides {
		if _, model, ok := strings.Cut(name, "/"); ok {
			models = append(models, model)
		}
	}
	for _, m := range models {
		names = append(names, telemetry.Model(m, false, true))
	}
	return names
}
