package config

import (
	"strconv"
	"strings"
)

func toolKeys() []rule[Settings] {
	const mode, limits = "capabilities.tools.code_mode.", "capabilities.tools.code_mode.limits."
	rules := []rule[Settings]{
		boolean("capabilities.tools.bash.shell_expansion", true, func(s *Settings) *bool { return &s.Capabilities.Tools.ShellExpansion }),
		integer("capabilities.tools.view_image.max_image_bytes", 5242880, 0, noLimit, func(s *Settings) *int { return &s.Capabilities.Tools.MaxImageBytes }),
		special("capabilities.tools.view_image.vision_model", nil, visionSchema, takeVision),
		boolean("capabilities.tools.magi_control.compact", true, func(s *Settings) *bool { return &s.Capabilities.Tools.Compact }),
		boolean(mode+"enabled", true, func(s *Settings) *bool { return &s.Capabilities.Tools.CodeMode.Enabled }),
		boolean(mode+"compact_direct_tools", false, func(s *Settings) *bool { return &s.Capabilities.Tools.CodeMode.CompactDirectTools }),
		boolean(mode+"nudges_enabled", true, func(s *Settings) *bool { return &s.Capabilities.Tools.CodeMode.Nudges }),
		list(mode+"disabled", innerDisabled, func(s *Settings) *[]string { return &s.Capabilities.Tools.CodeMode.Disabled }),
		limit(limits+"max_source_bytes", 65536, 1, 1<<20, func(l *CodeModeLimits) *int { return &l.MaxSourceBytes }),
		limit(limits+"max_inner_calls", 200, 1, 1000, func(l *CodeModeLimits) *int { return &l.MaxInnerCalls }),
		limit(limits+"max_runtime_ms", 60000, 1, 3600000, func(l *CodeModeLimits) *int { return &l.MaxRuntimeMS }),
		limit(limits+"max_memory_bytes", 32<<20, 1<<20, 256<<20, func(l *CodeModeLimits) *int { return &l.MaxMemoryBytes }),
		limit(limits+"max_inner_result_bytes", 1<<20, 1, 16<<20, func(l *CodeModeLimits) *int { return &l.MaxInnerResultBytes }),
		limit(limits+"max_total_result_bytes", 8<<20, 1, 64<<20, func(l *CodeModeLimits) *int { return &l.MaxTotalResultBytes }),
		limit(limits+"max_return_bytes", 256<<10, 1, 4<<20, func(l *CodeModeLimits) *int { return &l.MaxReturnBytes }),
		list("capabilities.tools.disabled", directDisabled, func(s *Settings) *[]string { return &s.Capabilities.Tools.Disabled }),
		// Checked, then overruled by agent.subagents.execution.
		boolean("capabilities.tools.subagents.absolute_paths", true, ignored[bool]),
		integer("capabilities.tools.subagents.max_depth", 2, 0, noLimit, ignored[int]),
	}
	for _, tool := range []string{"read", "view_image", "bash", "hash_edit", "write", "grep", "find", "list_files", "ast_grep"} {
		rules = append(rules, absolutePaths(tool))
	}
	return rules
}

// ignored is the place of values that are only checked.
func ignored[V any](*Settings) *V { return new(V) }

func limit(path string, fallback, low, high int, at func(*CodeModeLimits) *int) rule[Settings] {
	return integer(path, fallback, low, high, func(s *Settings) *int { return at(&s.Capabilities.Tools.CodeMode.Limits) })
}

func absolutePaths(tool string) rule[Settings] {
	r := boolean("capabilities.tools."+tool+".absolute_paths", true, ignored[bool])
	take := r.take
	r.take = func(s *Settings, v any) *problem {
		if v == false {
			if s.Capabilities.Tools.RelativeOnly == nil {
				s.Capabilities.Tools.RelativeOnly = make(map[string]bool)
			}
			s.Capabilities.Tools.RelativeOnly[tool] = true
		}
		return take(s, v)
	}
	return r
}

func visionSchema() object {
	return object{
		"type": []any{"object", "null"}, "required": []any{"provider", "model"},
		"properties": object{"provider": object{"type": "string"}, "model": object{"type": "string"}},
	}
}

// takeVision checks the types only; the names are judged when the tool runs.
func takeVision(s *Settings, v any) *problem {
	if v == nil {
		s.Capabilities.Tools.VisionModel = nil
		return nil
	}
	pair := new(ModelPair)
	s.Capabilities.Tools.VisionModel = pair
	return newShape([]rule[ModelPair]{
		text("provider", anyText, func(p *ModelPair) *string { return &p.Provider }).must(),
		text("model", anyText, func(p *ModelPair) *string { return &p.Model }).must(),
	}, nil, nil).decode(pair, v)
}

// innerDisabled keeps names that it does not know: newer releases have tools
// that this one has not (extensions.md 18.1).
func innerDisabled(items []string) ([]string, *problem) {
	for i, name := range items {
		if name == "code_mode" || name == "magi_control" {
			return nil, wrong("names a tool that scripts never have", strconv.Itoa(i))
		}
	}
	return items, nil
}

func directDisabled(items []string) ([]string, *problem) {
	for i, name := range items {
		if strings.TrimSpace(name) == "code_mode" {
			return nil, wrong("names code_mode; use code_mode.enabled", strconv.Itoa(i))
		}
	}
	return trimAll(items), nil
}
