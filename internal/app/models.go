package app

import (
	"context"
	"time"

	"magicode/internal/auth"
	"magicode/internal/catalog"
	"magicode/internal/httpx"
	"magicode/internal/provider"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/codex"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/factory"
	"magicode/internal/startup"
)

// models answers what the cached catalogs and the credentials say about
// providers and models. It implements attach.Models.
type models struct {
	snap     *startup.Snapshot
	catalogs *catalog.Reader
	lookup   func(string) (string, bool)
	claude   *claude.Command
	disabled map[string]bool // provider/model
}

func newModels(a *agent, snap *startup.Snapshot) *models {
	m := &models{snap: snap, catalogs: catalog.NewReader(a.fs, snap.Paths.Root), lookup: a.lookup, claude: a.claude(), disabled: map[string]bool{}}
	for _, name := range snap.Settings.Providers.CatalogDisabled {
		m.disabled[name] = true
	}
	return m
}

// known describes a provider to the catalog.
func (m *models) known(id string) catalog.Provider {
	p := catalog.Provider{ID: id}
	if def, ok := m.snap.Custom[id]; ok {
		p.Custom, p.Anthropic, p.ModelsDev, p.Extra = true, def.AnthropicLike, def.ModelsDevProvider, def.ExtraModels
	}
	return p
}

// Ready implements attach.Models: usable as it is, without a refresh.
func (m *models) Ready(ctx context.Context, id string) bool {
	if def, ok := m.snap.Custom[id]; ok {
		return def.Ready
	}
	if id == claude.ID {
		return m.claude.Ready(ctx)
	}
	file, err := m.snap.Auth.Read(ctx)
	if err != nil {
		return false
	}
	switch id {
	case "openai-codex":
		return file.Codex(time.Now()) == auth.Ready
	case "anthropic":
		_, ok := auth.AnthropicKey(m.lookup, file)
		return ok
	}
	return false
}

// Offers implements attach.Models.
func (m *models) Offers(id, model string) bool {
	return !m.disabled[id+"/"+model] && m.entry(id, model) != nil
}

func (m *models) entry(id, model string) *catalog.Entry {
	return m.catalogs.Read(m.known(id)).Find(model)
}

func (m *models) levels(id, model string) []provider.Level {
	return catalog.Levels(m.known(id), model, m.entry(id, model))
}

func (m *models) maxOutput(id, model string) int {
	if e := m.entry(id, model); e != nil {
		return int(min(e.MaxOutputTokens, 1<<31))
	}
	return 0
}

func (m *models) tiers(id, model string) []factory.Tier {
	e := m.entry(id, model)
	if e == nil {
		return nil
	}
	out := make([]factory.Tier, 0, len(e.Tiers))
	for _, t := range e.Tiers {
		out = append(out, factory.Tier{ID: t.ID, Name: t.Name})
	}
	return out
}

// newFactory makes the snapshot's provider factory.
func newFactory(a *agent, snap *startup.Snapshot, m *models) *factory.Factory {
	s := snap.Settings
	client := httpx.New(httpx.Options{Environ: a.environ})
	return factory.New(factory.Config{
		Engine:    &exchange.Engine{HTTP: client, Limits: exchange.NewLimits(), Tel: a.tel},
		UserAgent: "magi-code/" + version, NewID: newID,
		Custom: func(id string) (factory.Custom, bool) { return customProvider(snap, id) },
		Levels: m.levels, MaxOutput: m.maxOutput, Tiers: m.tiers,
		Verbosity: string(s.Providers.ResponsesVerbosity), Fast: s.Agent.Fast.Enabled, Ultrafast: s.Agent.Fast.Ultrafast,
		SemanticMain: seconds(s.Providers.SemanticTimeout), SemanticSubagent: seconds(s.Providers.SubagentTimeout),
		AnthropicBaseURL: s.Providers.AnthropicBaseURL, AnthropicCacheTTL: string(s.Providers.CacheTTL),
		AnthropicKey: func(ctx context.Context) (string, bool, error) {
			file, err := snap.Auth.Read(ctx)
			if err != nil {
				return "", false, err
			}
			key, ok := auth.AnthropicKey(a.lookup, file)
			return string(key), ok, nil
		},
		CodexBaseURL: s.Providers.CodexBaseURL, CodexVerbosity: string(s.Providers.CodexVerbosity), CodexStore: snap.Auth, CodexExchange: (&codex.TokenClient{HTTP: client}).Exchange,
		Claude: claudeMaker(a, m, client, seconds(s.Providers.SemanticTimeout)),
	})
}

func customProvider(snap *startup.Snapshot, id string) (factory.Custom, bool) {
	def, ok := snap.Custom[id]
	if !ok {
		return factory.Custom{}, false
	}
	c := factory.Custom{
		BaseURL: def.BaseURL, Key: string(def.Key), Ready: def.Ready, Chat: !def.Responses, SupportsVerbosity: def.SupportsVerbosity,
		AnthropicLike: def.AnthropicLike, Headers: def.ConversationHeaders,
	}
	if def.FastMode != nil {
		c.FastTier, c.FastModels = def.FastMode.ServiceTier, def.FastMode.Models
	}
	return c, true
}
