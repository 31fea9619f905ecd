package factory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/codex"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/openai"
	"magicode/telemetry"
)

var (
	// ErrUnsupported: there is no provider of this name.
	ErrUnsupported = provider.ErrUnsupported
	// ErrNotReady: the provider's credential is missing.
	ErrNotReady = provider.ErrNotReady
)

// Custom is one entry of providers.custom, with its key (providers.md 19).
type Custom struct {
	BaseURL           string
	Key               string // as captured at the start; "" sends none
	Ready             bool   // no key is needed, or it is there
	Chat              bool   // use_responses_endpoint is false
	SupportsVerbosity bool
	AnthropicLike     bool
	Headers           []string // request_headers, which carry the conversation id
	InlineReasoning   bool
	FastTier          string
	FastModels        []string // "*" alone is all
}

// Tier is one service tier of a catalog entry.
type Tier struct{ ID, Name string }

// Config is all that the factory needs. Nil functions know nothing.
type Config struct {
	Engine    *exchange.Engine
	UserAgent string // "magi-code/<version>"
	NewID     func() string

	Custom func(id string) (Custom, bool)
	// Levels, MaxOutput and Tiers read the catalog (providers.md 16.2, 18).
	Levels    func(provider, model string) []provider.Level
	MaxOutput func(provider, model string) int
	Tiers     func(provider, model string) []Tier

	// Verbosity is providers.openai_responses.text_verbosity; "" is unset.
	Verbosity       string
	Fast, Ultrafast bool
	// SemanticMain and SemanticSubagent are providers.streaming's limits; 0 is
	// 60 s and 120 s.
	SemanticMain, SemanticSubagent time.Duration

	AnthropicBaseURL  string
	AnthropicCacheTTL string
	// AnthropicKey resolves the key anew (providers.md 3.3); ok is false without one.
	AnthropicKey func(ctx context.Context) (key string, ok bool, err error)

	CodexBaseURL   string
	CodexVerbosity string // providers.openai_codex.text_verbosity
	CodexStore     codex.Store
	CodexExchange  auth.Exchange

	// Claude makes the provider claude-subscription; nil: it is unsupported.
	Claude func(ctx context.Context, sel provider.Selection, purpose provider.Purpose) (provider.Provider, error)
}

const defaultSubagentSemantic = 120 * time.Second // providers.md 7.2

// Factory implements provider.Factory. It is safe for concurrent use.
type Factory struct{ config Config }

// New returns a factory; it opens nothing.
func New(c Config) *Factory {
	if c.SemanticMain <= 0 {
		c.SemanticMain = exchange.DefaultSemanticTimeout
	}
	if c.SemanticSubagent <= 0 {
		c.SemanticSubagent = defaultSubagentSemantic
	}
	return &Factory{config: c}
}

var _ provider.Factory = (*Factory)(nil)

// Make implements provider.Factory. The error is ErrUnsupported, ErrNotReady,
// the context's cause, or that of a login that could not be renewed.
func (f *Factory) Make(ctx context.Context, sel provider.Selection, purpose provider.Purpose) (provider.Provider, error) {
	inner, err := f.inner(ctx, sel, purpose)
	if err != nil {
		return nil, fmt.Errorf("provider %q: %w", sel.Provider, err)
	}
	s := &shaped{inner: inner, purpose: purpose, id: sel.Provider}
	if f.config.Engine != nil {
		s.tel = f.config.Engine.Tel
	}
	if f.config.Levels != nil {
		s.levels = f.config.Levels(sel.Provider, sel.Model)
	}
	if f.config.MaxOutput != nil {
		s.maxOutput = f.config.MaxOutput(sel.Provider, sel.Model)
	}
	return s, nil
}

func (f *Factory) inner(ctx context.Context, sel provider.Selection, purpose provider.Purpose) (provider.Provider, error) {
	c := &f.config
	switch sel.Provider {
	case codex.ID:
		if c.CodexStore == nil {
			return nil, ErrNotReady
		}
		verbosity := c.Verbosity
		if verbosity == "" {
			verbosity = c.CodexVerbosity
		}
		return codex.New(ctx, codex.Config{BaseURL: c.CodexBaseURL, Verbosity: verbosity, ServiceTier: f.codexTier(sel.Model, purpose),
			Store: c.CodexStore, Exchange: c.CodexExchange, Semantic: f.semantic(purpose)}, c.Engine)
	case "anthropic":
		return f.anthropic(ctx, purpose)
	case "claude-subscription":
		if purpose == provider.PurposeImage {
			return nil, provider.ErrNoImages // its program takes text only
		}
		if c.Claude != nil {
			return c.Claude(ctx, sel, purpose)
		}
		return nil, ErrUnsupported
	}
	return f.custom(sel, purpose)
}

func (f *Factory) anthropic(ctx context.Context, purpose provider.Purpose) (provider.Provider, error) {
	c := &f.config
	if c.AnthropicKey == nil {
		return nil, ErrNotReady
	}
	key, ok, err := c.AnthropicKey(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotReady
	}
	return anthropic.New(anthropic.Config{BaseURL: c.AnthropicBaseURL, Key: key, CacheTTL: c.AnthropicCacheTTL,
		UserAgent: c.UserAgent, Semantic: f.semantic(purpose)}, c.Engine)
}

func (f *Factory) custom(sel provider.Selection, purpose provider.Purpose) (provider.Provider, error) {
	c := &f.config
	if c.Custom == nil {
		return nil, ErrUnsupported
	}
	def, ok := c.Custom(sel.Provider)
	if !ok {
		return nil, ErrUnsupported
	}
	if !def.Ready {
		return nil, ErrNotReady
	}
	cfg := openai.Config{BaseURL: def.BaseURL, Key: def.Key, Chat: def.Chat, AnthropicLike: def.AnthropicLike,
		ConversationHeaders: def.Headers, InlineReasoning: def.InlineReasoning, UserAgent: c.UserAgent, Semantic: f.semantic(purpose),
		SupportsVerbosity: def.SupportsVerbosity, Verbosity: c.Verbosity}
	if fastPurpose(purpose) && c.Fast && (slices.Contains(def.FastModels, sel.Model) || slices.Equal(def.FastModels, []string{"*"})) {
		cfg.ServiceTier = def.FastTier
	}
	if len(def.Headers) > 0 && c.NewID != nil {
		cfg.Conversation = "magi-code-conversation-" + c.NewID()
	}
	return openai.New(cfg, c.Engine)
}

func (f *Factory) semantic(p provider.Purpose) time.Duration {
	if p == provider.PurposeSubagent {
		return f.config.SemanticSubagent
	}
	return f.config.SemanticMain
}

// shaped keeps to the rules of its purpose (providers.md 6, 16.2).
type shaped struct {
	inner     provider.Provider
	purpose   provider.Purpose
	id        string
	levels    []provider.Level
	maxOutput int
	tel       telemetry.Tel
}

// Tier is the service tier that requests ask for, or "". The runner may ask for
// it through an interface of its own.
func (s *shaped) Tier() string {
	if t, ok := s.inner.(interface{ Tier() string }); ok {
		return t.Tier()
	}
	return ""
}

func (s *shaped) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	switch s.purpose {
	case provider.PurposeCompaction:
		req.PromptCacheKey, req.Tools = "", nil
	case provider.PurposeImage, provider.PurposeWeb:
		req.PromptCacheKey, req.ConversationID, req.Tools = "", "", nil
	case provider.PurposeTitle:
		req.PromptCacheKey, req.ConversationID, req.Tools = "", "", nil
		if s.id == codex.ID {
			req.Level = provider.LevelLow
		}
	}
	if len(s.levels) > 0 {
		req.Levels = len(s.levels)
		if !slices.Contains(s.levels, req.Level) {
			req.Level = provider.LevelDefault
		}
	}
	if req.MaxOutputTokens == 0 {
		req.MaxOutputTokens = s.maxOutput
	}
	ctx, chat := s.chat(ctx, &req)
	err := s.inner.Stream(ctx, req, chat.seen(emit))
	chat.ended(ctx, err)
	return err
}
