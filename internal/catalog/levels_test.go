package catalog_test

import (
	"strings"
	"testing"

	"magicode/internal/catalog"
	"magicode/internal/provider"
)

func TestLevels(t *testing.T) {
	yes, no := true, false
	reasons, plain, silent := &catalog.Entry{SupportsReasoning: &yes}, &catalog.Entry{SupportsReasoning: &no}, &catalog.Entry{}
	efforts := func(l ...provider.Level) *catalog.Entry {
		return &catalog.Entry{ReasoningEfforts: l, SupportsReasoning: &no}
	}
	gpt := catalog.Provider{ID: "local", Custom: true}
	like := catalog.Provider{ID: "local", Custom: true, Anthropic: true}
	codex, anthropic, claude := catalog.Provider{ID: "openai-codex"}, catalog.Provider{ID: "anthropic"}, catalog.Provider{ID: "claude-subscription"}
	for _, c := range []struct {
		what  string
		p     catalog.Provider
		model string
		e     *catalog.Entry
		want  string
	}{
		{"listed efforts win", codex, "gpt-5", efforts("low", "max", "low"), "default low max"},
		{"listed default is not repeated", gpt, "m", efforts("default", "low", "high"), "default low high"},
		{"custom without a catalog", gpt, "m", nil, "default"},
		{"custom that reasons", gpt, "m", reasons, "default low medium high"},
		{"custom that says nothing", gpt, "m", silent, "default"},
		{"custom gpt-like with a known name", gpt, "zai/glm-5.2", nil, "default"},
		{"anthropic-like that reasons", like, "m", reasons, "default high"},
		{"anthropic-like with efforts", like, "m", efforts("low", "high", "max", "x_high"), "default high max"},
		{"anthropic-like glm", like, "zai/glm-5.2", nil, "default high max"},
		{"codex that does not reason", codex, "gpt-5.5", plain, "default"},
		{"codex gpt-5.5", codex, "gpt-5.5", nil, "default low medium high x_high"},
		{"codex gpt-5.6-sol", codex, "gpt-5.6-sol", silent, "default low medium high"},
		{"codex o3", codex, "o3", nil, "default low medium high"},
		{"codex other, reasons", codex, "x", reasons, "default low medium high"},
		{"codex other", codex, "x", nil, "default"},
		{"anthropic", anthropic, "claude-x", nil, "default high max"},
		{"claude subscription without a catalog", claude, "claude-x", nil, "default"},
		{"zai", catalog.Provider{ID: "zai"}, "glm-5.2", nil, "default high max"},
	} {
		var got []string
		for _, l := range catalog.Levels(c.p, c.model, c.e) {
			got = append(got, string(l))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.what, s, c.want)
		}
	}
}

// TestLegacyNames: an older spelling is read, levels of newer releases are dropped.
func TestLegacyNames(t *testing.T) {
	_, r := home(t, "p", file(`{"enrichment_version":3,"models_dev_provider":"p"}`,
		`[{"provider":"p","model":"m","id":"p/m","reasoning_efforts":["minimal","x_high"],"supports_reasoning_effort":true,"service_tiers":[{"id":"fast","name":"Fast"}]}]`))
	e := r.Read(catalog.Provider{ID: "p", Custom: true}).Find("m")
	if e.SupportsReasoning == nil || !*e.SupportsReasoning || len(e.ReasoningEfforts) != 1 || e.ReasoningEfforts[0] != "x_high" || e.Tiers[0].ID != "fast" {
		t.Errorf("%+v", e)
	}
}
