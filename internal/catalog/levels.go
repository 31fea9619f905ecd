package catalog

import (
	"slices"
	"strings"

	"magicode/internal/provider"
)

// Valid reports whether l is a thinking level.
func Valid(l provider.Level) bool {
	switch l {
	case provider.LevelDefault, provider.LevelLow, provider.LevelMedium, provider.LevelHigh, provider.LevelXHigh, provider.LevelMax:
		return true
	}
	return false
}

// Levels returns the thinking levels that may be chosen for a model, default
// first (providers.md 16.2). e is the model's catalog entry, nil when there is
// none. The slice is the caller's.
func Levels(p Provider, model string, e *Entry) []provider.Level {
	levels := offered(p, model, e)
	if p.Custom && p.Anthropic {
		levels = slices.DeleteFunc(levels, func(l provider.Level) bool {
			return l != provider.LevelDefault && l != provider.LevelHigh && l != provider.LevelMax
		})
	}
	return levels
}

func offered(p Provider, model string, e *Entry) []provider.Level {
	only := []provider.Level{provider.LevelDefault}
	three := []provider.Level{provider.LevelDefault, provider.LevelLow, provider.LevelMedium, provider.LevelHigh}
	reasons, says := reasoning(e)
	if e != nil && len(e.ReasoningEfforts) > 0 {
		return listed(e.ReasoningEfforts)
	}
	switch {
	case p.Custom && !p.Anthropic:
		if reasons {
			return three
		}
		return only
	case p.ID == "openai-codex" && says && !reasons:
		return only
	}
	if levels := builtIn(p.ID, model); levels != nil {
		return levels
	}
	if reasons {
		return three
	}
	return only
}

// builtIn returns the levels known without a catalog, nil when there are none.
func builtIn(id, model string) []provider.Level {
	switch {
	case id == "anthropic",
		id == "zai" && model == "glm-5.2",
		model == "zai/glm-5.2":
		return []provider.Level{provider.LevelDefault, provider.LevelHigh, provider.LevelMax}
	case id == "openai-codex" && model == "gpt-5.5":
		return []provider.Level{provider.LevelDefault, provider.LevelLow, provider.LevelMedium, provider.LevelHigh, provider.LevelXHigh}
	case id == "openai-codex" && (strings.HasPrefix(model, "gpt-5") || strings.HasPrefix(model, "o")):
		return []provider.Level{provider.LevelDefault, provider.LevelLow, provider.LevelMedium, provider.LevelHigh}
	}
	return nil
}

// listed is default and the levels a catalog lists, each once.
func listed(efforts []provider.Level) []provider.Level {
	out := []provider.Level{provider.LevelDefault}
	for _, l := range efforts {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// reasoning tells whether the catalog says that the model reasons, and whether
// it says anything.
func reasoning(e *Entry) (yes, says bool) {
	if e == nil || e.SupportsReasoning == nil {
		return false, false
	}
	return *e.SupportsReasoning, true
}
