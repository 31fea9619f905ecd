package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/catalog"
	"magicode/internal/provider"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

const dir = "/home/cache/model-catalog"

// home is a memory file system with one catalog file.
func home(t *testing.T, id, content string) (*memfs.FS, *catalog.Reader) {
	t.Helper()
	m := memfs.New()
	if err := m.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, m, id, content)
	return m, catalog.NewReader(m, "/home")
}

func put(t *testing.T, m *memfs.FS, id, content string) {
	t.Helper()
	if err := vfs.Replace(m, filepath.Join(dir, id+".json"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func file(fingerprint, entries string) string {
	return `{"schema_version":9,"provider":"p","cache_fingerprint":` + fingerprint + `,"fetched_at":"2026-01-01T00:00:00Z","entries":` + entries + `}`
}

const one = `[{"provider":"p","model":"m","id":"p/m","context_window":32000}]`

// TestSyntheticCatalog: the sample home's file fits its settings.
func TestSyntheticCatalog(t *testing.T) {
	raw, err := os.ReadFile("testdata/synthetic.json")
	if err != nil {
		t.Fatal(err)
	}
	_, r := home(t, "synthetic", string(raw))
	p := catalog.Provider{ID: "synthetic", Custom: true, Extra: []string{" synthetic-extra ", "synthetic-extra", ""}}
	c := r.Read(p)
	if c == nil || len(c.Entries) != 3 || c.FetchedAt != "2026-01-01T00:00:00Z" {
		t.Fatalf("%+v", c)
	}
	yes := true
	want := &catalog.Entry{Provider: "synthetic", Model: "synthetic-small", ID: "synthetic/synthetic-small", DisplayName: "Synthetic small",
		ContextWindow: 32000, ReasoningEfforts: []provider.Level{"default", "low", "high"}, SupportsReasoning: &yes}
	if d := cmp.Diff(want, c.Find("synthetic-small")); d != "" {
		t.Error(d)
	}
	if c.Find("synthetic-large").MaxOutputTokens != 8192 || c.Find("other") != nil {
		t.Error("find")
	}
	if c := r.Read(catalog.Provider{ID: "synthetic", Custom: true}); c != nil {
		t.Error("a catalog of other settings was used")
	}
}

func TestRead(t *testing.T) {
	custom := catalog.Provider{ID: "p", Custom: true}
	for _, c := range []struct {
		what, content string
		p             catalog.Provider
		ok            bool
	}{
		{"plain", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one), custom, true},
		{"null fields of the fingerprint are absent", file(`{"enrichment_version":3,"models_dev_provider":"p","extra_models":null,"codex_client_version":null}`, one), custom, true},
		{"unknown fields", file(`{"enrichment_version":3,"models_dev_provider":"p","more":[1]}`, `[{"provider":"p","model":"m","id":"p/m","future":{}}]`), custom, true},
		{"configured models.dev name", file(`{"enrichment_version":3,"models_dev_provider":"dev"}`, one), catalog.Provider{ID: "p", Custom: true, ModelsDev: "dev"}, true},
		{"another models.dev name", file(`{"enrichment_version":3,"models_dev_provider":"dev"}`, one), custom, false},
		{"extra models", file(`{"enrichment_version":3,"models_dev_provider":"p","extra_models":["b","a"]}`, one), catalog.Provider{ID: "p", Custom: true, Extra: []string{"b", " a", "b"}}, true},
		{"extra models in another order", file(`{"enrichment_version":3,"models_dev_provider":"p","extra_models":["a","b"]}`, one), catalog.Provider{ID: "p", Custom: true, Extra: []string{"b", "a"}}, false},
		{"another enrichment", file(`{"enrichment_version":4,"models_dev_provider":"p"}`, one), custom, false},
		{"a Codex version where none belongs", file(`{"enrichment_version":3,"models_dev_provider":"p","codex_client_version":"0.159.0"}`, one), custom, false},
		{"no fingerprint", strings.Replace(file(`{}`, one), `"cache_fingerprint":{},`, "", 1), custom, false},
		{"another schema", strings.Replace(file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one), ":9", ":8", 1), custom, false},
		{"another provider", strings.Replace(file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one), `"provider":"p"`, `"provider":"q"`, 1), custom, false},
		{"no entries", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[]`), custom, false},
		{"an entry of another provider", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[{"provider":"q","model":"m","id":"q/m"}]`), custom, false},
		{"an entry whose id does not fit", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[{"provider":"p","model":"m","id":"p/n"}]`), custom, false},
		{"an entry without an id", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[{"provider":"p","model":"m"}]`), custom, false},
		{"a field of another type", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[{"provider":"p","model":"m","id":"p/m","context_window":"x"}]`), custom, false},
		{"cut off", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one)[:60], custom, false},
		{"empty", "", custom, false},
		{"too large", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one) + strings.Repeat(" ", 2<<20), custom, false},
	} {
		_, r := home(t, "p", c.content)
		if got := r.Read(c.p); (got != nil) != c.ok {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// TestBuiltIns: a home is shared by two releases with different fingerprints.
func TestBuiltIns(t *testing.T) {
	for _, c := range []struct {
		id, fingerprint string
		ok              bool
	}{
		{"anthropic", `{"enrichment_version":3}`, true}, {"anthropic", `{"enrichment_version":4}`, true}, {"anthropic", `{"enrichment_version":5}`, false},
		{"claude-subscription", `{"enrichment_version":4}`, true},
		{"openai-codex", `{"enrichment_version":3,"codex_client_version":"0.159.0"}`, true},
		{"openai-codex", `{"enrichment_version":3,"codex_client_version":"0.162.0"}`, true},
		{"openai-codex", `{"enrichment_version":3,"codex_client_version":"0.160.0"}`, false},
		{"openai-codex", `{"enrichment_version":3}`, false},
	} {
		content := strings.ReplaceAll(file("FP", one), `"p"`, `"`+c.id+`"`)
		content = strings.Replace(strings.Replace(content, `"p/m"`, `"`+c.id+`/m"`, 1), "FP", c.fingerprint, 1)
		_, r := home(t, c.id, content)
		if got := r.Read(catalog.Provider{ID: c.id}); (got != nil) != c.ok {
			t.Errorf("%s %s: %+v", c.id, c.fingerprint, got)
		}
	}
}

func TestUnsafeNames(t *testing.T) {
	m, r := home(t, "p", file(`{"enrichment_version":3}`, one))
	for _, id := range []string{"", "../p", "P", "a.b", "a_b", "é"} {
		if got := r.Read(catalog.Provider{ID: id, Custom: true}); got != nil {
			t.Errorf("%q: %+v", id, got)
		}
	}
	if err := m.Mkfifo(dir+"/fifo.json", 0o644); err != nil {
		t.Fatal(err)
	}
	if got := r.Read(catalog.Provider{ID: "fifo", Custom: true}); got != nil {
		t.Errorf("a FIFO: %+v", got)
	}
}

// TestReadFollowsTheFile: what is remembered is dropped with the file.
func TestReadFollowsTheFile(t *testing.T) {
	p := catalog.Provider{ID: "p", Custom: true}
	m, r := home(t, "p", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one))
	first := r.Read(p)
	if again := r.Read(p); first == nil || again == nil || &first.Entries[0] != &again.Entries[0] {
		t.Fatal("an unchanged file was decoded twice")
	}
	put(t, m, "p", file(`{"enrichment_version":3,"models_dev_provider":"p"}`, strings.ReplaceAll(one, "32000", "64000")))
	if got := r.Read(p); got == nil || got.Find("m").ContextWindow != 64000 {
		t.Errorf("%+v", got)
	}
	if err := m.Remove(dir + "/p.json"); err != nil {
		t.Fatal(err)
	}
	if got := r.Read(p); got != nil {
		t.Errorf("a removed file: %+v", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(`{"enrichment_version":3,"models_dev_provider":"p"}`, one))
	f.Add(file(`{"enrichment_version":3,"models_dev_provider":"p"}`, `[{"provider":"p","model":"m","id":"p/m","reasoning_efforts":["low","future"],"supports_reasoning_effort":true}]`))
	f.Fuzz(func(t *testing.T, content string) {
		_, r := home(t, "p", content)
		c := r.Read(catalog.Provider{ID: "p", Custom: true})
		if c == nil {
			return
		}
		for i := range c.Entries {
			e := &c.Entries[i]
			if e.ID != "p/"+e.Model {
				t.Errorf("%+v", e)
			}
			levels := catalog.Levels(catalog.Provider{ID: "p", Custom: true}, e.Model, e)
			if len(levels) == 0 || levels[0] != provider.LevelDefault {
				t.Errorf("levels %v", levels)
			}
		}
	})
}
