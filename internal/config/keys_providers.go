package config

func providerKeys() []rule[Settings] {
	low, medium, high := VerbosityLow, VerbosityMedium, VerbosityHigh
	return []rule[Settings]{
		enum("providers.openai_codex.text_verbosity", low, func(s *Settings) *Verbosity { return &s.Providers.CodexVerbosity }, low, medium, high),
		boolean("providers.openai_codex.experimental_reasoning_updates", false, func(s *Settings) *bool { return &s.Providers.ExperimentalReasoning }),
		gateway("providers.openai_codex.base_url", func(s *Settings) *string { return &s.Providers.CodexBaseURL }),
		optEnum("providers.openai_responses.text_verbosity", "", func(s *Settings) *Verbosity { return &s.Providers.ResponsesVerbosity }, low, medium, high),
		optEnum("providers.anthropic.cache_ttl", "", func(s *Settings) *CacheTTL { return &s.Providers.CacheTTL }, CacheFiveMinutes, CacheOneHour),
		gateway("providers.anthropic.base_url", func(s *Settings) *string { return &s.Providers.AnthropicBaseURL }),
		keyed("providers.custom", schemaOf(customShape), func(s *Settings) *map[string]Custom { return &s.Providers.Custom }, customProvider),
		list("providers.catalog.disabled", trimmed, func(s *Settings) *[]string { return &s.Providers.CatalogDisabled }),
		optInteger("providers.streaming.semantic_progress_timeout_seconds", 60, 1, 600, func(s *Settings) **int { return &s.Providers.SemanticTimeout }),
		optInteger("providers.streaming.subagent_semantic_progress_timeout_seconds", 120, 1, 600, func(s *Settings) **int { return &s.Providers.SubagentTimeout }),
	}
}

// gateway is a replacement for a built-in endpoint (decision 19).
func gateway(path string, at func(*Settings) *string) rule[Settings] {
	r := special(path, nil, fixed(object{"type": []any{"string", "null"}}), func(s *Settings, v any) *problem {
		if v == nil {
			*at(s) = ""
			return nil
		}
		raw, ok := v.(string)
		if !ok {
			return wrong("must be a string or null")
		}
		base, reason := gatewayURL(raw)
		*at(s) = base
		return complaint(reason)
	})
	return r.only()
}
