package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/chat"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"
)

// Config is one custom provider as its settings describe it (providers.md 19).
type Config struct {
	// BaseURL has no trailing slash; it was validated with the settings.
	BaseURL string
	// Key is sent as a bearer token; "" sends none.
	Key string
	// Chat uses Chat Completions instead of Responses.
	Chat bool
	// SupportsVerbosity lets Responses send a verbosity: the request's, else Verbosity.
	SupportsVerbosity bool
	Verbosity         string
	// AnthropicLike sends thinking budgets instead of efforts.
	AnthropicLike bool
	// ServiceTier is sent when it is not empty.
	ServiceTier string
	// ConversationHeaders name the headers that carry the conversation id.
	ConversationHeaders []string
	// Conversation stands in for a conversation id that a request lacks.
	Conversation string
	// InlineReasoning: the model ends reasoning with </think> and never opens it,
	// so that text is held back until it does (providers.md 13.2).
	InlineReasoning bool
	UserAgent       string
	// Semantic bounds the time without progress for requests that name none.
	Semantic time.Duration
}

// Provider sends requests to one server. It is safe for concurrent use.
type Provider struct {
	config Config
	engine *exchange.Engine
	url    *url.URL
}

// New returns a provider; it opens nothing.
func New(c Config, engine *exchange.Engine) (*Provider, error) {
	path := "/responses"
	if c.Chat {
		path = "/chat/completions"
	}
	u, err := url.Parse(strings.TrimRight(c.BaseURL, "/") + path)
	if err != nil {
		return nil, fmt.Errorf("base URL of a custom provider: %v", err)
	}
	return &Provider{config: c, engine: engine, url: u}, nil
}

// Tier is the service tier that requests ask for, or "".
func (p *Provider) Tier() string { return p.config.ServiceTier }

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	call := exchange.Call{
		URL:      p.url,
		Header:   func() http.Header { return p.header(req.ConversationID) },
		Semantic: req.SemanticTimeout,
		Whole:    req.Whole,
		Model:    req.Model,
		Hide:     []string{p.config.Key},
	}
	if call.Semantic <= 0 {
		call.Semantic = p.config.Semantic
	}
	call.Body, call.NewParser = p.api(&req)
	call.API = "responses"
	if p.config.Chat {
		call.API = "chat_completions"
	}
	if strings.Contains(p.url.Path, "/responses") {
		call.Provider = exchange.IdentityName(p.url)
	}
	return p.engine.Do(ctx, call, emit)
}

func (p *Provider) api(req *provider.Request) (*body.Body, func(*exchange.Sink) exchange.Parser) {
	c := p.config
	if c.Chat {
		parser := chat.NewParser
		if c.InlineReasoning {
			parser = chat.NewInlineParser
		}
		return chat.Body(req, chat.Options{ServiceTier: c.ServiceTier, AnthropicLike: c.AnthropicLike}), parser
	}
	verbosity := ""
	if c.SupportsVerbosity {
		verbosity = cmp.Or(req.Verbosity, c.Verbosity)
	}
	return responses.Body(req, responses.Options{Verbosity: verbosity, ServiceTier: c.ServiceTier, AnthropicLike: c.AnthropicLike}), responses.NewParser
}

func (p *Provider) header(conversation string) http.Header {
	h := make(http.Header, 8)
	h.Set("Accept", "text/event-stream")
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", p.config.UserAgent)
	if p.config.Key != "" {
		h.Set("Authorization", "Bearer "+p.config.Key)
	}
	if conversation == "" {
		conversation = p.config.Conversation
	}
	for _, name := range p.config.ConversationHeaders {
		h.Set(name, conversation)
	}
	return h
}
