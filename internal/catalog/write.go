package catalog

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"magicode/internal/provider"
	"magicode/internal/vfs"
)

// written is a catalog file as it is written: what is not known is left out.
type written struct {
	SchemaVersion int            `json:"schema_version"`
	Provider      string         `json:"provider"`
	Fingerprint   writtenMark    `json:"cache_fingerprint"`
	FetchedAt     string         `json:"fetched_at"`
	Entries       []writtenEntry `json:"entries"`
}

type writtenMark struct {
	Enrichment   int      `json:"enrichment_version"`
	CodexVersion string   `json:"codex_client_version,omitzero"`
	ModelsDev    string   `json:"models_dev_provider,omitzero"`
	Extra        []string `json:"extra_models,omitzero"`
}

type writtenEntry struct {
	Provider          string           `json:"provider"`
	Model             string           `json:"model"`
	ID                string           `json:"id"`
	DisplayName       string           `json:"display_name,omitzero"`
	Description       string           `json:"description,omitzero"`
	ContextWindow     uint64           `json:"context_window,omitzero"`
	MaxContextWindow  uint64           `json:"max_context_window,omitzero"`
	MaxOutputTokens   uint64           `json:"max_output_tokens,omitzero"`
	InputCost         string           `json:"input_cost,omitzero"`
	OutputCost        string           `json:"output_cost,omitzero"`
	ReasoningEfforts  []provider.Level `json:"reasoning_efforts,omitzero"`
	SupportsReasoning *bool            `json:"supports_reasoning,omitzero"`
	Modalities        []string         `json:"modalities,omitzero"`
	Tiers             []writtenTier    `json:"service_tiers,omitzero"`
}

type writtenTier struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// write replaces the file of a provider. Of the fingerprints that are read, the
// newer release's is written, which both programs of a shared home follow.
func (f *Fetcher) write(p Provider, entries []Entry) (*Catalog, error) {
	marks := expected(p)
	mark := marks[len(marks)-1]
	w := written{SchemaVersion: schemaVersion, Provider: p.ID, FetchedAt: f.Now().UTC().Format(time.RFC3339),
		Fingerprint: writtenMark(mark)}
	for i := range entries {
		w.Entries = append(w.Entries, entries[i].written())
	}
	data, err := json.Marshal(w, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrWrite, err)
	}
	if len(data) > maxWritten {
		return nil, ErrLimit
	}
	name := filepath.Join(f.Root, "cache", "model-catalog", p.ID+".json")
	if err := vfs.Replace(f.FS, name, append(data, '\n'), 0); err != nil && !errors.Is(err, vfs.ErrUndurable) {
		return nil, fmt.Errorf("%w: %v", ErrWrite, err)
	}
	return &Catalog{FetchedAt: w.FetchedAt, Entries: entries}, nil
}

func (e *Entry) written() writtenEntry {
	w := writtenEntry{
		Provider: e.Provider, Model: e.Model, ID: e.ID, DisplayName: e.DisplayName, Description: e.Description,
		ContextWindow: e.ContextWindow, MaxContextWindow: e.MaxContextWindow, MaxOutputTokens: e.MaxOutputTokens,
		InputCost: e.InputCost, OutputCost: e.OutputCost, ReasoningEfforts: e.ReasoningEfforts, SupportsReasoning: e.SupportsReasoning, Modalities: e.Modalities,
	}
	for _, t := range e.Tiers {
		w.Tiers = append(w.Tiers, writtenTier(t))
	}
	return w
}
