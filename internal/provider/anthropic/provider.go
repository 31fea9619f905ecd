package anthropic

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
)

// DefaultBaseURL is asked unless the global settings name another (decision 19).
const DefaultBaseURL = "https://api.anthropic.com"

const apiVersion = "2023-06-01"

// Config is what the settings and the credential give.
type Config struct {
	BaseURL   string // "" is DefaultBaseURL
	Key       string
	CacheTTL  string
	UserAgent string
	// Semantic bounds the time without progress for requests that name none.
	Semantic time.Duration
}

// Provider sends requests with an API key. It is safe for concurrent use.
type Provider struct {
	config Config
	engine *exchange.Engine
	url    *url.URL
}

// New returns a provider; it opens nothing.
func New(c Config, engine *exchange.Engine) (*Provider, error) {
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimRight(base, "/") + "/v1/messages")
	if err != nil {
		return nil, fmt.Errorf("base URL of anthropic: %v", err)
	}
	return &Provider{config: c, engine: engine, url: u}, nil
}

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	call := exchange.Call{
		URL:       p.url,
		Body:      Body(&req, Options{CacheTTL: p.config.CacheTTL}),
		Header:    p.header,
		NewParser: NewParser,
		Semantic:  req.SemanticTimeout,
		Whole:     req.Whole,
		API:       "messages",
		Model:     req.Model,
		Hide:      []string{p.config.Key},
	}
	if call.Semantic <= 0 {
		call.Semantic = p.config.Semantic
	}
	return p.engine.Do(ctx, call, emit)
}

func (p *Provider) header() http.Header {
	h := make(http.Header, 8)
	h.Set("Accept", "text/event-stream")
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", p.config.UserAgent)
	SetCredential(h, p.config.Key)
	return h
}

// SetCredential adds what every request of this API carries.
func SetCredential(h http.Header, key string) {
	h.Set("Anthropic-Version", apiVersion)
	h.Set("X-Api-Key", key)
}

// ListURL is where the API lists its models; base is "" for DefaultBaseURL.
func ListURL(base string) string {
	if base == "" {
		base = DefaultBaseURL
	}
	return strings.TrimRight(base, "/") + "/v1/models?limit=1000"
}
