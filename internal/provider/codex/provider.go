package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"
	"magicode/telemetry"
)

// ID is the provider's name in settings and in auth.json.
const ID = "openai-codex"

// DefaultBaseURL is asked unless the global settings name another (decision 19).
const DefaultBaseURL = "https://chatgpt.com/backend-api/codex"

const (
	userAgent  = "codex_cli_rs/0.159.0"
	originator = "codex_cli_rs"

	maxHeaderValue = 256  // session-id, thread-id, routing hint: providers.md 12.2
	maxTurnState   = 4096 // providers.md 7.4

	defaultVerbosity = "low"
	// expiredMark is how the service says that the login ran out in mid-turn.
	expiredMark = "Your ChatGPT session expired before this request finished."
)

// Store renews the stored login. *auth.Store is one.
type Store interface {
	Refresh(ctx context.Context, provider string, force bool, exchange auth.Exchange) (auth.Record, error)
}

// Config is what the settings and the credentials give.
type Config struct {
	BaseURL     string // "" is DefaultBaseURL
	Verbosity   string // "" is low
	ServiceTier string // sent when it is not empty
	Store       Store
	Exchange    auth.Exchange
	// Semantic bounds the time without progress for requests that name none.
	Semantic time.Duration
}

// Provider serves one run: the turn state that the service hands out lives and
// dies with it. It is safe for concurrent use.
type Provider struct {
	config Config
	engine *exchange.Engine
	url    *url.URL

	mu    sync.Mutex
	turn  turnState
	login auth.Record
}

// turnState is sticky for the requests it belongs to.
type turnState struct {
	value                   string
	account, session, model string
}

// New returns a provider for one run, with a login that is ready: it renews a
// stale one first (providers.md 4.3). The error tells the user to log in again
// when nothing else helps.
func New(ctx context.Context, c Config, engine *exchange.Engine) (*Provider, error) {
	base := c.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimRight(base, "/") + "/responses")
	if err != nil {
		return nil, fmt.Errorf("base URL of openai-codex: %v", err)
	}
	p := &Provider{config: c, engine: engine, url: u}
	return p, p.renew(ctx, false)
}

// renew takes the stored login, renewed if need be.
func (p *Provider) renew(ctx context.Context, force bool) error {
	rec, err := p.config.Store.Refresh(ctx, ID, force, p.exchange)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !force && errors.Is(err, auth.ErrLoginNeeded) {
			return &provider.Error{Kind: provider.ErrPlain, Err: fmt.Errorf("there is no ChatGPT login that can be used; log in with `magi-code auth login`: %w", err)}
		}
		return &provider.Error{Kind: provider.ErrPlain,
			Err: fmt.Errorf("the ChatGPT login has expired and could not be renewed; log in again with `magi-code auth login`: %w", err)}
	}
	if accountOfRecord(rec) == "" {
		return &provider.Error{Kind: provider.ErrPlain, Err: errors.New("the ChatGPT login names no account; log in again with `magi-code auth login`")}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.login = rec
	return nil
}

// exchange renews the login over the network, inside a span: a login that is
// still good has none.
func (p *Provider) exchange(ctx context.Context, refresh auth.Secret) (auth.Record, error) {
	var tel telemetry.Tel
	if p.engine != nil {
		tel = p.engine.Tel
	}
	ctx, span := tel.Begin(ctx, telemetry.SpanAuthRefresh)
	defer span.End()
	span.Str(telemetry.KeyProvider, telemetry.WordOf(ID))
	rec, err := p.config.Exchange(ctx, refresh)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		span.Fail(telemetry.CodeOf("cancelled"))
	default:
		span.Fail(telemetry.CodeOf("auth"))
	}
	return rec, err
}

func accountOfRecord(r auth.Record) string {
	if r.AccountID != nil && *r.AccountID != "" {
		return *r.AccountID
	}
	return AccountID(string(r.Access))
}

// Tier is the service tier that requests ask for, or "".
func (p *Provider) Tier() string { return p.config.ServiceTier }

// Stream implements provider.Provider. A login that runs out before the first
// event is renewed once, and the attempts go on counting.
func (p *Provider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	req.Model = modelName(req.Model)
	req.Whole = false // the service refuses what is no stream
	call := p.call(&req)
	err := p.engine.Do(ctx, call, emit)
	attempts, expired := sessionExpired(err)
	if !expired {
		return err
	}
	if err := p.renew(ctx, true); err != nil {
		return err
	}
	again := p.call(&req)
	again.Body, again.Before = call.Body, attempts
	return p.engine.Do(ctx, again, emit)
}

func (p *Provider) call(req *provider.Request) exchange.Call {
	p.mu.Lock()
	login := p.login
	p.mu.Unlock()
	verbosity := cmp.Or(req.Verbosity, p.config.Verbosity, defaultVerbosity)
	key := turnState{account: accountOfRecord(login), session: sessionOf(req), model: req.Model}
	c := exchange.Call{
		URL:       p.url,
		Body:      responses.Body(req, responses.Options{Verbosity: verbosity, ServiceTier: p.config.ServiceTier, ParallelCalls: true}),
		Header:    func() http.Header { return p.header(login, key) },
		OnHeader:  func(h http.Header) { p.keep(key, h.Get("X-Codex-Turn-State")) },
		NewParser: responses.NewParser,
		Semantic:  req.SemanticTimeout,
		Provider:  exchange.IdentityName(p.url),
		API:       "responses",
		Model:     req.Model,
		Hide:      []string{string(login.Access)},
	}
	if req.WebSearch {
		c.NewParser = newSearchParser
	}
	if c.Semantic <= 0 {
		c.Semantic = p.config.Semantic
	}
	return c
}

// sessionExpired reports the answer that a renewed login mends, and how many
// attempts were made until it came.
func sessionExpired(err error) (attempts int, ok bool) {
	var perr *provider.Error
	var status *exchange.StatusError
	if !errors.As(err, &perr) || !errors.As(err, &status) {
		return 0, false
	}
	return perr.Attempts, status.Status == http.StatusUnauthorized && strings.Contains(status.Body, expiredMark)
}

func (p *Provider) header(login auth.Record, key turnState) http.Header {
	h := make(http.Header, 16)
	h.Set("Accept", "text/event-stream")
	h.Set("Authorization", "Bearer "+string(login.Access))
	h.Set("Chatgpt-Account-Id", key.account)
	h.Set("Content-Type", "application/json")
	h.Set("Openai-Beta", "responses=experimental")
	h.Set("Originator", originator)
	h.Set("User-Agent", userAgent)
	setShort(h, "Session-Id", key.session)
	setShort(h, "Thread-Id", key.session)
	hint := "model=" + key.model
	if p.config.ServiceTier != "" {
		hint += ";tier=" + p.config.ServiceTier
	}
	setShort(h, "X-Codex-Routing-Hint", hint)
	if state := p.state(key); state != "" {
		h.Set("X-Codex-Turn-State", state)
	}
	return h
}

// keep takes the first valid turn state of a run.
func (p *Provider) keep(key turnState, value string) {
	if strings.TrimSpace(value) == "" || !legal(value, maxTurnState) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn.value == "" || !p.turn.belongs(key) {
		key.value = value
		p.turn = key
	}
}

func (p *Provider) state(key turnState) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.turn.belongs(key) {
		return ""
	}
	return p.turn.value
}

func (t turnState) belongs(key turnState) bool {
	return t.account == key.account && t.session == key.session && t.model == key.model
}

func sessionOf(req *provider.Request) string {
	if req.ConversationID != "" {
		return req.ConversationID
	}
	return req.PromptCacheKey
}

func setShort(h http.Header, name, value string) {
	if value != "" && legal(value, maxHeaderValue) {
		h.Set(name, value)
	}
}

// legal reports printable ASCII of at most n bytes.
func legal(s string, n int) bool {
	if len(s) > n {
		return false
	}
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// modelName resolves the short names of models (providers.md 12.1).
func modelName(m string) string {
	switch m {
	case "luna":
		return "gpt-5.6-luna"
	case "terra":
		return "gpt-5.6-terra"
	case "sol", "gpt-5.6":
		return "gpt-5.6-sol"
	}
	return m
}
