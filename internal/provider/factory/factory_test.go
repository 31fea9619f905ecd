package factory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"magicode/internal/auth"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/factory"

	"github.com/google/go-cmp/cmp"
)

// server notes what it is asked and answers with one complete response.
type server struct {
	urls   []string
	header []http.Header
	bodies []map[string]any
	model  string // that it says has answered; "": it does not say
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	s.urls, s.header, s.bodies = append(s.urls, req.URL.String()), append(s.header, req.Header), append(s.bodies, body)
	named := ""
	if s.model != "" {
		named = fmt.Sprintf(`,"model":%q`, s.model)
	}
	answer := "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]" + named + "}}\n\n"
	if strings.HasSuffix(req.URL.Path, "/messages") {
		answer = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"x\"" + named + "}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	}
	if strings.HasSuffix(req.URL.Path, "/completions") {
		answer = "data: {\"id\":\"x\"" + named + "}\n\ndata: [DONE]\n\n"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

type store struct{ err error }

func (s store) Refresh(context.Context, string, bool, auth.Exchange) (auth.Record, error) {
	account := "acct"
	return auth.Record{Kind: auth.KindOAuth, Access: "tok", AccountID: &account}, s.err
}

func config(s *server) factory.Config {
	custom := map[string]factory.Custom{
		"local":    {BaseURL: "http://local.test/v1", Ready: true, SupportsVerbosity: true, Headers: []string{"X-Conv"}, FastTier: "turbo", FastModels: []string{"m1"}},
		"chat":     {BaseURL: "http://chat.test/v1", Ready: true, Chat: true, FastTier: "any", FastModels: []string{"*"}, Key: "k"},
		"keyless":  {BaseURL: "http://keyless.test"},
		"thinking": {BaseURL: "http://like.test", Ready: true, AnthropicLike: true},
	}
	return factory.Config{
		Engine: &exchange.Engine{HTTP: s, Limits: exchange.NewLimits()}, UserAgent: "magi-code/9", NewID: func() string { return "id-1" },
		Custom:    func(id string) (factory.Custom, bool) { c, ok := custom[id]; return c, ok },
		Verbosity: "medium", Fast: true,
		AnthropicKey: func(context.Context) (string, bool, error) { return "sk-ant", true, nil },
		CodexStore:   store{}, CodexVerbosity: "high",
		MaxOutput: func(p, m string) int { return 7000 },
		Levels:    func(p, m string) []provider.Level { return []provider.Level{provider.LevelDefault, provider.LevelHigh} },
	}
}

func send(t *testing.T, f *factory.Factory, sel provider.Selection, purpose provider.Purpose) {
	t.Helper()
	p, err := f.Make(t.Context(), sel, purpose)
	if err != nil {
		t.Fatalf("%s for %s: %v", sel.Provider, purpose, err)
	}
	req := provider.Request{Model: sel.Model, Level: sel.Level, PromptCacheKey: "key", ConversationID: "conv", Tools: []provider.ToolDef{{Name: "read"}}}
	if err := p.Stream(t.Context(), req, func(provider.Event) error { return nil }); err != nil {
		t.Fatalf("%s for %s: %v", sel.Provider, purpose, err)
	}
}

func TestMake(t *testing.T) {
	s := &server{}
	f := factory.New(config(s))
	for _, id := range []string{"local", "chat", "thinking", "anthropic", "openai-codex"} {
		send(t, f, provider.Selection{Provider: id, Model: "m1"}, provider.PurposeMain)
	}
	want := []string{"http://local.test/v1/responses", "http://chat.test/v1/chat/completions", "http://like.test/responses", "https://api.anthropic.com/v1/messages", "https://chatgpt.com/backend-api/codex/responses"}
	if diff := cmp.Diff(want, s.urls); diff != "" {
		t.Error(diff)
	}
	if s.header[3].Get("X-Api-Key") != "sk-ant" || s.header[3].Get("Anthropic-Version") != "2023-06-01" || s.header[1].Get("Authorization") != "Bearer k" || s.header[0].Get("User-Agent") != "magi-code/9" {
		t.Errorf("headers %v", s.header)
	}
	if s.bodies[3]["max_tokens"] != 7000.0 || s.bodies[2]["max_tokens"] != 7000.0 || s.bodies[2]["reasoning"] != nil {
		t.Errorf("bodies %v", s.bodies)
	}
	for i, want := range map[int]any{0: map[string]any{"verbosity": "medium"}, 2: nil, 4: map[string]any{"verbosity": "medium"}} {
		if diff := cmp.Diff(want, s.bodies[i]["text"]); diff != "" {
			t.Errorf("verbosity of %s: %s", s.urls[i], diff)
		}
	}
}

func TestErrors(t *testing.T) {
	c := config(&server{})
	c.AnthropicKey = func(context.Context) (string, bool, error) { return "", false, nil }
	c.CodexStore = store{err: auth.ErrLoginNeeded}
	f := factory.New(c)
	for id, want := range map[string]error{
		"": factory.ErrUnsupported, "nobody": factory.ErrUnsupported, "claude-subscription": factory.ErrUnsupported, "keyless": factory.ErrNotReady,
		"anthropic": factory.ErrNotReady, "openai-codex": auth.ErrLoginNeeded,
	} {
		if _, err := f.Make(t.Context(), provider.Selection{Provider: id, Model: "m"}, provider.PurposeMain); !errors.Is(err, want) {
			t.Errorf("%q: error %v, want %v", id, err, want)
		}
	}
	f = factory.New(factory.Config{})
	for _, id := range []string{"local", "anthropic", "openai-codex"} {
		if _, err := f.Make(t.Context(), provider.Selection{Provider: id}, provider.PurposeMain); err == nil {
			t.Errorf("%s was made from nothing", id)
		}
	}
}

// TestPurposes: what a purpose forbids is not sent, whatever the request says.
func TestPurposes(t *testing.T) {
	type sent struct {
		Key, Tools, Tier, Session bool
		Effort                    any
	}
	for purpose, want := range map[provider.Purpose]sent{
		provider.PurposeMain:       {true, true, true, true, "high"},
		provider.PurposeSubagent:   {true, true, true, true, "high"},
		provider.PurposeCompaction: {false, false, true, true, "high"},
		provider.PurposeTitle:      {false, false, false, false, nil},
	} {
		s := &server{}
		send(t, factory.New(config(s)), provider.Selection{Provider: "openai-codex", Model: "gpt-5.5", Level: provider.LevelHigh}, purpose)
		b := s.bodies[0]
		reasoning, _ := b["reasoning"].(map[string]any)
		got := sent{b["prompt_cache_key"] != nil, b["tools"] != nil, b["service_tier"] == "priority", s.header[0].Get("Session-Id") != "", reasoning["effort"]}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", purpose, diff)
		}
	}
	c := config(&server{})
	s := &server{}
	c.Engine = &exchange.Engine{HTTP: s, Limits: exchange.NewLimits()}
	c.Levels = func(string, string) []provider.Level {
		return []provider.Level{provider.LevelDefault, provider.LevelLow}
	}
	send(t, factory.New(c), provider.Selection{Provider: "openai-codex", Model: "gpt-5.5", Level: provider.LevelHigh}, provider.PurposeTitle)
	send(t, factory.New(c), provider.Selection{Provider: "openai-codex", Model: "gpt-5.5", Level: provider.LevelHigh}, provider.PurposeMain)
	for i, want := range []any{"low", nil} {
		if got := s.bodies[i]["reasoning"].(map[string]any)["effort"]; got != want {
			t.Errorf("request %d has effort %v", i, got)
		}
	}
}

func TestFast(t *testing.T) {
	tiers := func(t ...factory.Tier) func(string, string) []factory.Tier {
		return func(string, string) []factory.Tier { return t }
	}
	for _, c := range []struct {
		name      string
		sel       provider.Selection
		off       bool
		ultrafast bool
		tiers     func(string, string) []factory.Tier
		want      any
	}{
		{"codex by name", provider.Selection{Provider: "openai-codex", Model: "gpt-5.4"}, false, false, nil, "priority"},
		{"codex alias", provider.Selection{Provider: "openai-codex", Model: "gpt-5.6-sol"}, false, false, nil, "priority"},
		{"codex too old", provider.Selection{Provider: "openai-codex", Model: "gpt-5.3-codex"}, false, false, nil, nil},
		{"codex newer", provider.Selection{Provider: "openai-codex", Model: "gpt-6"}, false, false, nil, "priority"},
		{"codex other", provider.Selection{Provider: "openai-codex", Model: "o3"}, false, false, nil, nil},
		{"codex catalog", provider.Selection{Provider: "openai-codex", Model: "o3"}, false, false, tiers(factory.Tier{ID: "slow", Name: "Slow"}, factory.Tier{ID: "t1", Name: "Fast"}), "t1"},
		{"codex ultrafast", provider.Selection{Provider: "openai-codex", Model: "gpt-5.5"}, false, true, tiers(factory.Tier{ID: "t1", Name: "fast"}, factory.Tier{ID: "ultrafast", Name: "x"}), "ultrafast"},
		{"codex ultrafast, not offered", provider.Selection{Provider: "openai-codex", Model: "gpt-5.5"}, false, true, tiers(factory.Tier{ID: "t1", Name: "fast"}), nil},
		{"codex off", provider.Selection{Provider: "openai-codex", Model: "gpt-5.5"}, true, false, nil, nil},
		{"custom listed", provider.Selection{Provider: "local", Model: "m1"}, false, false, nil, "turbo"},
		{"custom not listed", provider.Selection{Provider: "local", Model: "m2"}, false, false, nil, nil},
		{"custom all", provider.Selection{Provider: "chat", Model: "m2"}, false, false, nil, "any"},
		{"custom off", provider.Selection{Provider: "local", Model: "m1"}, true, false, nil, nil},
	} {
		s := &server{}
		cfg := config(s)
		cfg.Fast, cfg.Ultrafast, cfg.Tiers = !c.off, c.ultrafast, c.tiers
		send(t, factory.New(cfg), c.sel, provider.PurposeMain)
		if got := s.bodies[0]["service_tier"]; got != c.want {
			t.Errorf("%s: tier %v, want %v", c.name, got, c.want)
		}
	}
}

func TestConversationHeader(t *testing.T) {
	s := &server{}
	f := factory.New(config(s))
	send(t, f, provider.Selection{Provider: "local", Model: "m1"}, provider.PurposeMain)
	send(t, f, provider.Selection{Provider: "local", Model: "m1"}, provider.PurposeTitle)
	for i, want := range []string{"conv", "magi-code-conversation-id-1"} {
		if got := s.header[i].Get("X-Conv"); got != want {
			t.Errorf("request %d: %q, want %q", i, got, want)
		}
	}
}
