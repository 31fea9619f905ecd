package catalog

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"magicode/internal/provider"
	"magicode/internal/vfs"
)

const (
	// maxBytes bounds a catalog file (storage.md 10).
	maxBytes = 2 << 20
	// schemaVersion is the only one read.
	schemaVersion = 9
)

// Provider is what must be known of a provider to judge its cache.
type Provider struct {
	ID        string
	Custom    bool     // a custom provider of the settings
	Anthropic bool     // a custom provider that speaks Anthropic Messages
	ModelsDev string   // custom: models_dev_provider of the settings, "" when not set
	Extra     []string // custom: extra_models of the settings
}

// Entry is one model. Pointers are nil where the catalog does not say.
type Entry struct {
	Provider          string           `json:"provider"`
	Model             string           `json:"model"`
	ID                string           `json:"id"` // provider/model
	DisplayName       string           `json:"display_name"`
	Description       string           `json:"description"`
	InputCost         string           `json:"input_cost"`
	OutputCost        string           `json:"output_cost"`
	ContextWindow     uint64           `json:"context_window"` // tokens; 0: not said
	MaxContextWindow  uint64           `json:"max_context_window"`
	MaxOutputTokens   uint64           `json:"max_output_tokens"`
	ReasoningEfforts  []provider.Level `json:"reasoning_efforts"`
	SupportsReasoning *bool            `json:"supports_reasoning"`
	ReasoningLegacy   *bool            `json:"supports_reasoning_effort"` // read into SupportsReasoning
	Modalities        []string         `json:"modalities"`
	Tiers             []Tier           `json:"service_tiers"`
}

// Tier is a service tier of a model.
type Tier struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Catalog is the valid catalog of one provider. It is not changed after it was
// read; a nil one has no models.
type Catalog struct {
	FetchedAt string
	Entries   []Entry
}

// Find returns the entry of a model, nil when there is none.
func (c *Catalog) Find(model string) *Entry {
	if c == nil {
		return nil
	}
	for i := range c.Entries {
		if c.Entries[i].Model == model {
			return &c.Entries[i]
		}
	}
	return nil
}

// Reader reads the catalogs of one home. It remembers what it read as long as
// the file stays the same, and is safe for concurrent use.
type Reader struct {
	fs  vfs.FS
	dir string

	mu   sync.Mutex
	seen map[string]memo // by provider id
}

// memo is a decoded file, before it was judged.
type memo struct {
	info vfs.Info
	file *file
}

// NewReader returns a reader of the home at root.
func NewReader(fs vfs.FS, root string) *Reader {
	return &Reader{fs: fs, dir: filepath.Join(root, "cache", "model-catalog"), seen: make(map[string]memo)}
}

// Read returns the catalog of a provider, or nil when there is none that can be
// used.
func (r *Reader) Read(p Provider) *Catalog {
	if !safeName(p.ID) {
		return nil
	}
	f := r.load(p.ID)
	if f == nil || !f.usable(p) {
		return nil
	}
	return &Catalog{FetchedAt: f.FetchedAt, Entries: f.Entries}
}

// load returns the decoded file, nil when it cannot be read or decoded.
func (r *Reader) load(id string) *file {
	name := filepath.Join(r.dir, id+".json")
	seen, err := r.fs.Stat(name)
	if err != nil {
		return nil // most providers of a user's own have none
	}
	if m, ok := r.recall(id); ok && m.info == seen {
		return m.file
	}
	data, info, err := vfs.ReadFileInfo(r.fs, name, maxBytes, vfs.Follow)
	if err != nil {
		return nil
	}
	f := new(file)
	if err := json.Unmarshal(data, f); err != nil {
		f = nil
	}
	r.remember(id, memo{info, f})
	return f
}

func (r *Reader) recall(id string) (memo, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.seen[id]
	return m, ok
}

func (r *Reader) remember(id string, m memo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[id] = m
}

// safeName reports whether id names a catalog file: [a-z0-9-] only.
func safeName(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// file is a catalog as it is stored.
type file struct {
	SchemaVersion int         `json:"schema_version"`
	Provider      string      `json:"provider"`
	Fingerprint   fingerprint `json:"cache_fingerprint"`
	FetchedAt     string      `json:"fetched_at"`
	Entries       []Entry     `json:"entries"`
}

// fingerprint says under which settings and by which release a catalog was made.
type fingerprint struct {
	Enrichment   int      `json:"enrichment_version"`
	CodexVersion string   `json:"codex_client_version"`
	ModelsDev    string   `json:"models_dev_provider"`
	Extra        []string `json:"extra_models"`
}

// UnmarshalJSON merges what is spelled in two ways and drops levels of newer
// releases.
func (e *Entry) UnmarshalJSON(data []byte) error {
	type plain Entry
	if err := json.Unmarshal(data, (*plain)(e)); err != nil {
		return err
	}
	if e.SupportsReasoning == nil {
		e.SupportsReasoning = e.ReasoningLegacy
	}
	e.ReasoningEfforts = slices.DeleteFunc(e.ReasoningEfforts, func(l provider.Level) bool { return !Valid(l) })
	return nil
}

// usable reports whether the file is p's and was made under its settings.
func (f *file) usable(p Provider) bool {
	if f.SchemaVersion != schemaVersion || f.Provider != p.ID || len(f.Entries) == 0 {
		return false
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Provider != p.ID || e.ID != e.Provider+"/"+e.Model {
			return false
		}
	}
	return slices.ContainsFunc(expected(p), f.Fingerprint.equal)
}

func (f fingerprint) equal(o fingerprint) bool {
	return f.Enrichment == o.Enrichment && f.CodexVersion == o.CodexVersion && f.ModelsDev == o.ModelsDev && slices.Equal(f.Extra, o.Extra)
}

// expected returns the fingerprints that p's catalog may have. For a built-in
// provider the two releases that share a home differ; either is good
// (extensions.md 18.4).
func expected(p Provider) []fingerprint {
	switch {
	case p.Custom:
		dev := p.ModelsDev
		if dev == "" {
			dev = p.ID
		}
		return []fingerprint{{Enrichment: 3, ModelsDev: dev, Extra: normalise(p.Extra)}}
	case p.ID == "openai-codex":
		return []fingerprint{{Enrichment: 3, CodexVersion: "0.159.0"}, {Enrichment: 3, CodexVersion: "0.162.0"}}
	default:
		return []fingerprint{{Enrichment: 3}, {Enrichment: 4}}
	}
}

// normalise trims names, drops blank and repeated ones and keeps the order.
func normalise(names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
