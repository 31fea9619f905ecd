package models

import (
	"context"
	"time"

	"magicode/internal/auth"
	"magicode/internal/catalog"
	"magicode/internal/provider"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/factory"
	"magicode/internal/startup"
	"magicode/internal/vfs"
)

// Models is safe for concurrent use. It implements attach.Models.
type Models struct {
	// Claude is the user's own claude command.
	Claude *claude.Command

	snap     *startup.Snapshot
	catalogs *catalog.Reader
	lookup   func(string) (string, bool)
	disabled map[string]bool // provider/model
}

// New reads the catalogs in the snapshot's home when they are asked for, and keys
// with lookup.
func New(fsys vfs.FS, lookup func(string) (string, bool), command *claude.Command, snap *startup.Snapshot) *Models {
	m := &Models{Claude: command, snap: snap, catalogs: catalog.NewReader(fsys, snap.Paths.Root), lookup: lookup, disabled: map[string]bool{}}
	for _, name := range snap.Settings.Providers.CatalogDisabled {
		m.disabled[name] = true
	}
	return m
}

// Catalog is the cached catalog of a provider; nil: there is none.
func (m *Models) Catalog(id string) *catalog.Catalog { return m.catalogs.Read(m.Known(id)) }

// Known describes a provider to the catalog.
func (m *Models) Known(id string) catalog.Provider {
	p := catalog.Provider{ID: id}
	if def, ok := m.snap.Custom[id]; ok {
		p.Custom, p.Anthropic, p.ModelsDev, p.Extra = true, def.AnthropicLike, def.ModelsDevProvider, def.ExtraModels
	}
	return p
}

// Ready implements attach.Models: usable as it is, without a refresh.
func (m *Models) Ready(ctx context.Context, id string) bool {
	if def, ok := m.snap.Custom[id]; ok {
		return def.Ready
	}
	if id == claude.ID {
		return m.Claude.Ready(ctx)
	}
	file, err := m.snap.Auth.Read(ctx)
	if err != nil {
		return false
	}
	switch id {
	case "openai-codex":
		return file.Codex(time.Now()) == auth.Ready
	case "anthropic":
		_, ok := auth.AnthropicKey(m.lookup, file)
		return ok
	}
	return false
}

// Offers implements attach.Models.
func (m *Models) Offers(id, model string) bool {
	return !m.Disabled(id, model) && m.Entry(id, model) != nil
}

// Disabled reports a model that the user does not want to be offered.
func (m *Models) Disabled(id, model string) bool { return m.disabled[id+"/"+model] }

// Entry is what a catalog says of a model; nil: nothing.
func (m *Models) Entry(id, model string) *catalog.Entry {
	return m.Catalog(id).Find(model)
}

// Levels are the thinking levels that a model offers.
func (m *Models) Levels(id, model string) []provider.Level {
	return catalog.Levels(m.Known(id), model, m.Entry(id, model))
}

// MaxOutput is how many tokens a model may answer with; 0: not known.
func (m *Models) MaxOutput(id, model string) int {
	if e := m.Entry(id, model); e != nil {
		return int(min(e.MaxOutputTokens, 1<<31))
	}
	return 0
}

// Tiers are the service tiers of a model.
func (m *Models) Tiers(id, model string) []factory.Tier {
	e := m.Entry(id, model)
	if e == nil {
		return nil
	}
	out := make([]factory.Tier, 0, len(e.Tiers))
	for _, t := range e.Tiers {
		out = append(out, factory.Tier{ID: t.ID, Name: t.Name})
	}
	return out
}
