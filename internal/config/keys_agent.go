package config

import "strings"

func agentKeys() []rule[Settings] {
	return []rule[Settings]{
		optText("agent.primary_agent", anyText, func(s *Settings) **string { return &s.Agent.PrimaryAgent }),
		optText("agent.model.provider", supportedID, func(s *Settings) **string { return &s.Agent.Model.Provider }),
		optText("agent.model.model", anyText, func(s *Settings) **string { return &s.Agent.Model.Model }),
		optEnum("agent.model.thinking_level", LevelDefault, func(s *Settings) *Level { return &s.Agent.Model.Level }, levels()...),
		boolean("agent.fast.enabled", false, func(s *Settings) *bool { return &s.Agent.Fast.Enabled }).only(),
		boolean("agent.fast.ultrafast", false, func(s *Settings) *bool { return &s.Agent.Fast.Ultrafast }).only(),

		boolean("agent.context.enabled", true, func(s *Settings) *bool { return &s.Agent.Context.Enabled }),
		integer("agent.context.max_tokens", 128000, 0, noLimit, func(s *Settings) *int { return &s.Agent.Context.MaxTokens }),
		integer("agent.context.reserve_tokens", 16384, 0, noLimit, func(s *Settings) *int { return &s.Agent.Context.ReserveTokens }),
		integer("agent.context.keep_recent_tokens", 20000, 0, noLimit, func(s *Settings) *int { return &s.Agent.Context.KeepRecentTokens }),
		keyed("agent.context.model_overrides", schemaOf(overrideShape),
			func(s *Settings) *map[string]ContextOverride { return &s.Agent.Context.Overrides }, contextOverride),

		boolean("agent.summarizer.auto_start", false, func(s *Settings) *bool { return &s.Agent.Summarizer.AutoStart }),
		optText("agent.summarizer.provider", identifier, func(s *Settings) **string { return &s.Agent.Summarizer.Provider }),
		optText("agent.summarizer.model", identifier, func(s *Settings) **string { return &s.Agent.Summarizer.Model }),
		optEnum("agent.summarizer.reasoning", "", func(s *Settings) *Level { return &s.Agent.Summarizer.Reasoning }, levels()...),
		optText("agent.summarizer.prompt", notBlank, func(s *Settings) **string { return &s.Agent.Summarizer.Prompt }),
		optText("agent.side.provider", identifier, func(s *Settings) **string { return &s.Agent.Side.Provider }),
		optText("agent.side.model", identifier, func(s *Settings) **string { return &s.Agent.Side.Model }),

		list("agent.subagents.disabled", trimmed, func(s *Settings) *[]string { return &s.Agent.Subagents.Disabled }),
		optInteger("agent.subagents.schema_validation_max_retries", 2, 0, 5, func(s *Settings) **int { return &s.Agent.Subagents.SchemaMaxRetries }),
		boolean("agent.subagents.execution.absolute_paths", true, func(s *Settings) *bool { return &s.Agent.Subagents.AbsolutePaths }),
		clamped("agent.subagents.execution.max_depth", 2, 1, 4, func(s *Settings) *int { return &s.Agent.Subagents.MaxDepth }),
	}
}

func levels() []Level {
	return []Level{LevelDefault, LevelLow, LevelMedium, LevelHigh, LevelXHigh, LevelMax}
}

// supportedID refuses the one id that is retired. Whether a provider exists is
// not the settings' business (providers.md 1).
func supportedID(id string) string {
	if id == "claude-code" {
		return "is a retired provider; use claude-subscription"
	}
	return ""
}

func overrideShape() *shape[ContextOverride] {
	return newShape([]rule[ContextOverride]{
		optInteger("max_tokens", -1, 0, noLimit, func(o *ContextOverride) **int { return &o.MaxTokens }),
		optInteger("reserve_tokens", -1, 0, noLimit, func(o *ContextOverride) **int { return &o.ReserveTokens }),
		optInteger("keep_recent_tokens", -1, 0, noLimit, func(o *ContextOverride) **int { return &o.KeepRecentTokens }),
	}, nil, nil)
}

func contextOverride(key string, v any) (ContextOverride, *problem) {
	var o ContextOverride
	provider, model, _ := strings.Cut(key, "/")
	if provider == "" || model == "" || hasSpaceOrControl(key) {
		return o, wrong("is no provider/model")
	}
	if p := overrideShape().decode(&o, v); p != nil {
		return o, p
	}
	if o == (ContextOverride{}) {
		return o, wrong("overrides nothing")
	}
	return o, nil
}

func compactionKeys() []rule[Settings] {
	const auto, claude = "agent.compaction.auto.", "agent.compaction.claude_subscription."
	return []rule[Settings]{
		optText("agent.compaction.provider", anyText, func(s *Settings) **string { return &s.Agent.Compaction.Provider }),
		optText("agent.compaction.model", anyText, func(s *Settings) **string { return &s.Agent.Compaction.Model }),
		boolean(auto+"enabled", true, func(s *Settings) *bool { return &s.Agent.Compaction.Auto.Enabled }),
		optInteger(auto+"threshold_percent", 80, 1, 100, func(s *Settings) **int { return &s.Agent.Compaction.Auto.ThresholdPercent }),
		optInteger(auto+"threshold_tokens", -1, 1, noLimit, func(s *Settings) **int { return &s.Agent.Compaction.Auto.ThresholdTokens }),
		optInteger(auto+"max_compactions_per_run", -1, 0, 255, func(s *Settings) **int { return &s.Agent.Compaction.Auto.MaxPerRun }),
		boolean(claude+"allow_compaction", true, func(s *Settings) *bool { return &s.Agent.Compaction.Claude.AllowCompaction }),
		integer(claude+"reserve_tokens", 16384, 1, 201999, func(s *Settings) *int { return &s.Agent.Compaction.Claude.ReserveTokens }),
		optInteger(claude+"threshold_percent", 100, 1, 100, func(s *Settings) **int { return &s.Agent.Compaction.Claude.ThresholdPercent }),
		optInteger(claude+"threshold_tokens", 202000, 1, noLimit, func(s *Settings) **int { return &s.Agent.Compaction.Claude.ThresholdTokens }),
	}
}
