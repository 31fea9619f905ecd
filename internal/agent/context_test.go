package agent

import (
	"testing"

	"magicode/internal/config"
	"magicode/internal/provider"
	"magicode/internal/startup"
	"magicode/internal/vfs/memfs"
)

// TestSubscriptionBudget: runner.md 26.2 and 27.1 for claude-subscription.
func TestSubscriptionBudget(t *testing.T) {
	n := func(v int) *int { return &v }
	claude := provider.Selection{Provider: "claude-subscription", Model: "m"}
	base := func() *config.Settings {
		s := new(config.Settings)
		s.Agent.Context = config.Context{Enabled: true, MaxTokens: 1_000_000, ReserveTokens: 5000}
		s.Agent.Compaction.Auto = config.AutoCompaction{Enabled: true, ThresholdPercent: n(80), MaxPerRun: n(2)}
		s.Agent.Compaction.Claude = config.ClaudeCompaction{AllowCompaction: true, ReserveTokens: 16384, ThresholdPercent: n(100), ThresholdTokens: n(202_000)}
		return s
	}
	type result struct {
		enabled                               bool
		max, reserve, percent, tokens, perRun int
	}
	for _, c := range []struct {
		name string
		sel  provider.Selection
		edit func(*config.Settings)
		want result
	}{
		{"itself compacting", claude, func(*config.Settings) {}, result{true, 202_000, 16384, 100, 202_000, 0}},
		{"always on", claude, func(s *config.Settings) { s.Agent.Context.Enabled = false }, result{true, 202_000, 16384, 100, 202_000, 0}},
		{"another model compacts", claude, func(s *config.Settings) {
			p, m := "openai-codex", "gpt-5.5"
			s.Agent.Compaction.Provider, s.Agent.Compaction.Model = &p, &m
		}, result{true, 202_000, 5000, 100, 202_000, 0}},
		{"a smaller model", claude, func(s *config.Settings) { s.Agent.Context.MaxTokens = 100_000 }, result{true, 100_000, 16384, 100, 100_000, 0}},
		{"others are as before", provider.Selection{Provider: "anthropic", Model: "m"}, func(*config.Settings) {}, result{true, 1_000_000, 5000, 80, 0, 2}},
	} {
		s := base()
		c.edit(s)
		snap := &startup.Snapshot{Settings: s}
		r := &agentRuntime{snap: snap, models: (&Agent{fs: memfs.New(), lookup: func(string) (string, bool) { return "", false }}).Models(snap)}
		b := r.budget(c.sel)
		if got := (result{b.Enabled, b.MaxTokens, b.Reserve, b.Percent, b.Tokens, b.MaxPerRun}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
