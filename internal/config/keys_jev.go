package config

func jevKeys() []rule[Settings] {
	const at = "internal_tooling.jev."
	return []rule[Settings]{
		boolean(at+"enabled", false, func(s *Settings) *bool { return &s.Jev.Enabled }),
		boolean(at+"show_debug_messages", false, func(s *Settings) *bool { return &s.Jev.DebugMessages }),
		boolean(at+"bash_protection.enabled", false, func(s *Settings) *bool { return &s.Jev.BashProtection.Enabled }),
		enum(at+"bash_protection.protection_level", ProtectionRelaxed, func(s *Settings) *Protection { return &s.Jev.BashProtection.Level }, protections[1:]...),
		enum(at+"bash_protection.failure_policy", AutoApprove, func(s *Settings) *FailurePolicy { return &s.Jev.BashProtection.Policy }, AutoApprove, AutoDeny),
		boolean(at+"bash_file_tracking.enabled", false, func(s *Settings) *bool { return &s.Jev.FileTracking }),
		boolean(at+"humanize_protection.enabled", false, func(s *Settings) *bool { return &s.Jev.Humanize.Enabled }),
		fraction(at+"humanize_protection.content_threshold", 0.7, func(s *Settings) *float64 { return &s.Jev.Humanize.ContentThreshold }),
		fraction(at+"humanize_protection.humanized_threshold", 0.65, func(s *Settings) *float64 { return &s.Jev.Humanize.HumanizedThreshold }),
		enum(at+"humanize_protection.failure_policy", AutoDeny, func(s *Settings) *FailurePolicy { return &s.Jev.Humanize.Policy }, AutoApprove, AutoDeny),
		boolean(at+"prompt_injection_protection.enabled", false, func(s *Settings) *bool { return &s.Jev.Injection.Enabled }),
		boolean(at+"prompt_injection_protection.enforcement_enabled", false, func(s *Settings) *bool { return &s.Jev.Injection.Enforcement }),
		enum(at+"prompt_injection_protection.protection_level", ProtectionBalanced, func(s *Settings) *Protection { return &s.Jev.Injection.Level }, protections[1:]...),
		integer(at+"prompt_injection_protection.max_assessed_bytes", 32768, 1, noLimit, func(s *Settings) *int { return &s.Jev.Injection.MaxAssessedBytes }),
		enum(at+"prompt_injection_protection.failure_policy", Quarantine, func(s *Settings) *FailurePolicy { return &s.Jev.Injection.Policy }, Annotate, Quarantine),
		injectionTools(at + "prompt_injection_protection.tools"),
		boolean(at+"completion_verification.enabled", false, func(s *Settings) *bool { return &s.Jev.Completion.Enabled }),
		boolean(at+"completion_verification.enforcement_enabled", false, func(s *Settings) *bool { return &s.Jev.Completion.Enforcement }),
		fraction(at+"completion_verification.threshold", 0.7, func(s *Settings) *float64 { return &s.Jev.Completion.Threshold }),
		integer(at+"completion_verification.max_state_bytes", 32768, 1, noLimit, func(s *Settings) *int { return &s.Jev.Completion.MaxStateBytes }),
		integer(at+"completion_verification.max_continuations", 1, 0, 255, func(s *Settings) *int { return &s.Jev.Completion.MaxContinuations }),
		enum(at+"completion_verification.failure_policy", AcceptWarn, func(s *Settings) *FailurePolicy { return &s.Jev.Completion.Policy }, AcceptWarn, RejectWarn),
		boolean(at+"skill_suggestion.enabled", false, func(s *Settings) *bool { return &s.Jev.SkillSuggestion.Enabled }),
		fraction(at+"skill_suggestion.gate_threshold", 0.3, func(s *Settings) *float64 { return &s.Jev.SkillSuggestion.GateThreshold }),
		fraction(at+"skill_suggestion.fit_threshold", 0.3, func(s *Settings) *float64 { return &s.Jev.SkillSuggestion.FitThreshold }),
		boolean(at+"compaction_timing.enabled", false, func(s *Settings) *bool { return &s.Jev.Compaction.Enabled }),
		integer(at+"compaction_timing.soft_threshold_percent", 60, 1, 99, func(s *Settings) *int { return &s.Jev.Compaction.SoftThresholdPercent }),
		fraction(at+"compaction_timing.threshold", 0.7, func(s *Settings) *float64 { return &s.Jev.Compaction.Threshold }),
	}
}

func injectionTools(path string) rule[Settings] {
	r := list(path, asIs, func(s *Settings) *[]string { return &s.Jev.Injection.Tools })
	r.fallback = []any{"web"}
	r.schema = fixed(object{"type": "array", "items": object{"type": "string"}, "default": []any{"web"}})
	return r
}
