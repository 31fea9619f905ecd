package startup

import (
	"io"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/profile"
	"magicode/internal/provider"
)

// Snapshot is what a child works with for its whole life. It is immutable and
// safe for concurrent use; changes of files after the start are not seen, but
// for the credential store, which is read anew at each turn.
type Snapshot struct {
	Paths     config.Paths
	ContextID string
	Settings  *config.Settings
	// IgnoredSettings names what safe mode left out of the project's settings.
	IgnoredSettings []string
	Selection       provider.Selection // of the start; an attachment may have another
	Custom          map[string]CustomProvider
	Auth            *auth.Store
	Instructions    []profile.Instruction
	Skills          []profile.Skill
	Fragments       map[string]string // replaced prompt fragments, by name
	Agent           *profile.Agent    // the primary agent; nil for none
	Subagents       profile.Subagents
	MCP             config.MCP
	// Servers is what Env.Connect gave: the owner of the snapshot closes it. Nil
	// without approved servers.
	Servers io.Closer
}

// CustomProvider is a custom provider with the key that was there at the start.
type CustomProvider struct {
	config.Custom
	ID    string
	Key   auth.Secret // "" for none
	Ready bool        // no key is needed, or it is there
}

// Info is what a start, also a failed one, knows. Fields are "" until known.
type Info struct {
	ContextID string
	Provider  string
	Model     string
	// Telemetry is the raw "telemetry" value of the global settings file, also
	// when the rest of the file is invalid; nil when there is none.
	Telemetry []byte
}

// builtin reports a provider that needs no definition.
func builtin(id string) bool {
	return id == "openai-codex" || id == "anthropic" || id == "claude-subscription"
}

// Selected is the model of the start (providers.md 2).
func Selected(m config.Model) provider.Selection {
	s := provider.Selection{Provider: "openai-codex", Level: provider.Level(m.Level)}
	if m.Provider != nil {
		s.Provider = *m.Provider
	}
	if m.Model != nil {
		s.Model = *m.Model
	} else {
		s.Model = DefaultModel(s.Provider)
	}
	return s
}

// DefaultModel is the model of a provider for which settings name none.
func DefaultModel(id string) string {
	switch id {
	case "anthropic":
		return "claude-sonnet-4-5-20250929"
	case "claude-subscription":
		return "claude-opus-5-5"
	}
	return "gpt-5.5"
}

// Customs joins the custom providers with the keys that are there now.
func Customs(defs map[string]config.Custom, lookup auth.Lookup) map[string]CustomProvider {
	out := make(map[string]CustomProvider, len(defs))
	for id, def := range defs {
		key, ok := auth.CustomKey(lookup, def.KeyVariable)
		if !ok {
			key = ""
		}
		out[id] = CustomProvider{Custom: def, ID: id, Key: key, Ready: ok}
	}
	return out
}
