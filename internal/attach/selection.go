package attach

import (
	"context"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// Notices of an open (protocol, "Owned sessions and chat history").
const (
	NoticeCwdUnverified        = "cwd_unverified"
	NoticeSelectionUnavailable = "saved_selection_unavailable"
)

// Models says which saved selections can be restored. Startup hands it in; it
// goes by the settings admitted at startup, and by auth.json and the catalog
// files as they are now.
type Models interface {
	// Ready reports whether the provider is Codex, Anthropic, the Claude
	// subscription or a configured custom one, and its credential can be used
	// as it is, without a refresh.
	Ready(ctx context.Context, provider string) bool
	// Offers reports whether the model stands in the provider's valid cached
	// catalog and is not disabled in the settings.
	Offers(provider, model string) bool
}

// readPreference reads a saved choice (storage.md 6.4). ok is false for one
// that is blank or not understood; such a one is as good as none.
func readPreference(v jsonscan.Value) (sel provider.Selection, ok bool) {
	p, _ := v.Get("provider").Text()
	m, _ := v.Get("model").Text()
	level, _ := v.Get("requested_thinking").Text()
	sel = provider.Selection{Provider: strings.TrimSpace(p), Model: strings.TrimSpace(m), Level: provider.Level(level)}
	return sel, sel.Provider != "" && sel.Model != "" && validLevel(sel.Level)
}

// restore returns the selection an opened session runs with, and whether the
// saved one was available (storage.md 8.3).
func restore(ctx context.Context, saved, startup provider.Selection, models Models) (sel provider.Selection, available bool) {
	saved.Model = unalias(saved.Provider, saved.Model)
	if saved.Provider != "claude-code" && models.Offers(saved.Provider, saved.Model) && models.Ready(ctx, saved.Provider) {
		return saved, true
	}
	startup.Level = saved.Level
	return startup, false
}

// unalias expands the short names of Codex models.
func unalias(provider, model string) string {
	if provider != "openai-codex" {
		return model
	}
	switch model {
	case "luna", "terra", "sol":
		return "gpt-5.6-" + model
	case "gpt-5.6":
		return "gpt-5.6-sol"
	}
	return model
}

func validLevel(l provider.Level) bool {
	switch l {
	case provider.LevelDefault, provider.LevelLow, provider.LevelMedium, provider.LevelHigh, provider.LevelXHigh, provider.LevelMax:
		return true
	}
	return false
}
