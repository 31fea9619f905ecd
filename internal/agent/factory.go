package agent

import (
	"context"

	"magicode/internal/auth"
	"magicode/internal/httpx"
	"magicode/internal/models"
	"magicode/internal/provider/codex"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/factory"
	"magicode/internal/startup"
)

// newFactory makes the snapshot's provider factory.
func newFactory(a *Agent, snap *startup.Snapshot, m *models.Models) *factory.Factory {
	s := snap.Settings
	client := httpx.New(httpx.Options{Environ: a.environ})
	return factory.New(factory.Config{
		Engine:    &exchange.Engine{HTTP: client, Limits: exchange.NewLimits(), Tel: a.tel},
		UserAgent: "magi-code/" + Version, NewID: NewID,
		Custom: func(id string) (factory.Custom, bool) { return customProvider(snap, id) },
		Levels: m.Levels, MaxOutput: m.MaxOutput, Tiers: m.Tiers,
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
