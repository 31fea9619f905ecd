package config

import (
	"maps"
	"slices"
	"sync"
)

// settingsShape is the table of all settings keys (storage.md 2.4). It is built
// on first use and immutable after that.
var settingsShape = sync.OnceValue(func() *shape[Settings] {
	rules := slices.Concat(documentKeys(), agentKeys(), compactionKeys(), providerKeys(), toolKeys(), capabilityKeys(),
		knowledgeKeys(), hookKeys(), frontEndKeys(), jevKeys())
	return newShape(rules,
		[]string{"capabilities.tools.code_mode", "capabilities.tools.code_mode.limits"},
		[]string{"agent.context"})
})

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// documentKeys are those at the top.
func documentKeys() []rule[Settings] {
	return []rule[Settings]{
		special[Settings]("schema_version", number("2"), fixed(object{"const": 2}), func(_ *Settings, v any) *problem {
			if v != number("2") {
				return wrong("must be the integer 2")
			}
			return nil
		}),
		// Telemetry judges its own object, and never by an error on the wire
		// (telemetry.md 2.4).
		special[Settings]("telemetry", nil, fixed(object{"type": "object"}), func(*Settings, any) *problem { return nil }).only(),
	}
}

// decodeSettings checks a whole document and gives it typed.
func decodeSettings(tree map[string]any) (*Settings, *problem) {
	s := new(Settings)
	if p := settingsShape().decode(s, tree); p != nil {
		return nil, p
	}
	if p := crossCheck(s); p != nil {
		return nil, p
	}
	return s, nil
}

// crossCheck holds the rules that concern more than one key.
func crossCheck(s *Settings) *problem {
	for _, check := range []func(*Settings) *problem{checkCompaction, checkSide, checkCodeMode, checkJev} {
		if p := check(s); p != nil {
			return p
		}
	}
	return nil
}

func checkCompaction(s *Settings) *problem {
	c := &s.Agent.Compaction
	if c.Auto.Enabled && c.Auto.ThresholdPercent == nil && c.Auto.ThresholdTokens == nil {
		return wrong("is enabled without a threshold", "agent", "compaction", "auto")
	}
	if !c.Claude.AllowCompaction && (c.Provider == nil || c.Model == nil || *c.Provider == "claude-subscription") {
		return wrong("needs another compaction provider and a model when false",
			"agent", "compaction", "claude_subscription", "allow_compaction")
	}
	return nil
}

func checkSide(s *Settings) *problem {
	if (s.Agent.Side.Provider == nil) != (s.Agent.Side.Model == nil) {
		return wrong("needs both provider and model, or neither", "agent", "side")
	}
	return nil
}

func checkCodeMode(s *Settings) *problem {
	if m := s.Capabilities.Tools.CodeMode; m.CompactDirectTools && !m.Enabled {
		return wrong("needs code_mode.enabled", "capabilities", "tools", "code_mode", "compact_direct_tools")
	}
	return nil
}

// checkJev: these four do not work without the judgement service; the
// protections are just inert.
func checkJev(s *Settings) *problem {
	j := &s.Jev
	if j.Enabled {
		return nil
	}
	for _, part := range []struct {
		on   bool
		name string
	}{
		{j.FileTracking, "bash_file_tracking"}, {j.Completion.Enabled, "completion_verification"},
		{j.SkillSuggestion.Enabled, "skill_suggestion"}, {j.Compaction.Enabled, "compaction_timing"},
	} {
		if part.on {
			return wrong("needs internal_tooling.jev.enabled", "internal_tooling", "jev", part.name, "enabled")
		}
	}
	return nil
}
