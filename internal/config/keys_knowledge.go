package config

import (
	"path/filepath"
	"strconv"
	"strings"
)

func knowledgeKeys() []rule[Settings] {
	return []rule[Settings]{
		boolean("knowledge.instructions.subdir_discovery", false, func(s *Settings) *bool { return &s.Knowledge.SubdirDiscovery }),
		list("knowledge.instructions.additional_markdown_paths", markdownPaths, func(s *Settings) *[]string { return &s.Knowledge.MarkdownPaths }),
		list("knowledge.skills.additional_paths", absoluteOnly, func(s *Settings) *[]string { return &s.Knowledge.SkillPaths }),
		list("knowledge.skills.disabled", trimmed, func(s *Settings) *[]string { return &s.Knowledge.SkillsDisabled }),
	}
}

// markdownPaths are read later, by package profile; here their form is judged.
func markdownPaths(items []string) ([]string, *problem) {
	for i, path := range items {
		if !filepath.IsAbs(path) || !strings.EqualFold(filepath.Ext(path), ".md") {
			return nil, wrong("is no absolute path of a .md file", strconv.Itoa(i))
		}
	}
	return items, nil
}

// absoluteOnly skips relative entries.
func absoluteOnly(items []string) ([]string, *problem) {
	out := make([]string, 0, len(items))
	for _, path := range items {
		if filepath.IsAbs(path) {
			out = append(out, path)
		}
	}
	return out, nil
}

func frontEndKeys() []rule[Settings] {
	return []rule[Settings]{
		boolean("automation.integrations.herdr.enabled", false, func(s *Settings) *bool { return &s.Herdr }),
		integer("sessions.retention_days", 30, 0, noLimit, func(s *Settings) *int { return &s.Sessions.RetentionDays }),
		boolean("sessions.titles.enabled", false, func(s *Settings) *bool { return &s.Sessions.Titles.Enabled }),
		optText("sessions.titles.provider", anyText, func(s *Settings) **string { return &s.Sessions.Titles.Provider }),
		optText("sessions.titles.model", anyText, func(s *Settings) **string { return &s.Sessions.Titles.Model }),
		absentText("interface.appearance.theme", func(s *Settings) *string { return &s.Interface.Theme }).only(),
		boolean("interface.appearance.reduced_motion", false, func(s *Settings) *bool { return &s.Interface.ReducedMotion }).only(),
		optBoolean("interface.no_color", func(s *Settings) **bool { return &s.Interface.NoColor }),
		optInteger("interface.tui.subagent_card_rows", 16, 1, 50, func(s *Settings) **int { return &s.Interface.SubagentCardRows }),
		// Unknown panels are kept: newer releases have more (extensions.md 18.1).
		list("interface.tui.panel_layout.open", asIs, func(s *Settings) *[]string { return &s.Interface.OpenPanels }).only(),
		boolean("interface.tui.panel_layout.pinned", false, func(s *Settings) *bool { return &s.Interface.PanelPinned }).only(),
		boolean("interface.tui.panel_layout.opened_by_pin", false, func(s *Settings) *bool { return &s.Interface.PanelOpenedByPin }).only(),
		boolean("interface.tui.autocomplete.respects_gitignore", true, func(s *Settings) *bool { return &s.Interface.AutocompleteIgnores }),
	}
}
