package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/vfs"
)

// Why a refresh failed (extensions.md 10). Whatever the reason, the cache file
// is as it was. The errors hold nothing of what a server said.
var (
	ErrRejected    = errors.New("the provider refused the credential")
	ErrRateLimited = errors.New("too many requests; try again later")
	ErrTimeout     = errors.New("the server did not answer in time")
	ErrUnavailable = errors.New("the server cannot be reached, or refused the request")
	ErrInvalid     = errors.New("the list of models is not valid")
	ErrEmpty       = errors.New("the list of models is empty")
	ErrLimit       = errors.New("the list of models is too large")
	ErrWrite       = errors.New("the catalog could not be written")
)

// Bounds of a refresh: extensions.md 10.
const (
	listTimeout  = 300 * time.Second
	maxListBytes = 2 << 20
	factsTimeout = 30 * time.Second
	maxFacts     = 8 << 20
	maxEntries   = 2048
	maxWritten   = 1 << 20
)

// FactsURL is where the public facts about models come from.
const FactsURL = "https://models.dev/api.json"

// Source is a provider's own list of models.
type Source struct {
	Provider Provider
	// URL of the list; "" for a provider that has none, whose models are those
	// that the public facts name.
	URL    string
	Header http.Header // with the credential
}

// Fetcher fetches catalogs into one home. It is safe for concurrent use.
type Fetcher struct {
	HTTP http.RoundTripper // does not follow redirects
	FS   vfs.FS
	Root string
	Now  func() time.Time
	// Facts is FactsURL; "" asks for none: models have only what their provider
	// tells.
	Facts string
	// FactsFailed, if not nil, is told why the public facts could not be had, and
	// the catalog is made without them where the provider has a list of its own.
	// Nil fails the whole refresh.
	FactsFailed func(error)
}

// Refresh fetches a provider's catalog and replaces its file. The error is one
// of the package's, or the cause of the context's end; then nothing is changed.
func (f *Fetcher) Refresh(ctx context.Context, s Source) (*Catalog, error) {
	if !safeName(s.Provider.ID) {
		return nil, fmt.Errorf("%w: its provider's name makes no file name", ErrWrite)
	}
	entries, err := f.list(ctx, s)
	if err == nil {
		entries, err = f.complete(ctx, s, entries)
	}
	if err == nil {
		entries, err = finish(s.Provider, entries)
	}
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return f.write(s.Provider, entries)
}

// list asks the provider.
func (f *Fetcher) list(ctx context.Context, s Source) ([]Entry, error) {
	if s.URL == "" {
		return nil, nil
	}
	v, err := f.get(ctx, s.URL, s.Header, listTimeout, maxListBytes)
	if err != nil {
		return nil, err
	}
	list, read := v.Get("data"), openAIModel
	switch {
	case s.Provider.ID == "openai-codex":
		list, read = v.Get("models"), codexModel
	case s.Provider.ID == "anthropic":
		read = anthropicModel
	}
	if list.Kind() != jsonscan.Array {
		return nil, ErrInvalid
	}
	var out []Entry
	for m := range list.Elements() {
		e, use := read(m)
		if !use {
			continue
		}
		if e.Model == "" {
			return nil, ErrInvalid
		}
		if out = append(out, e); len(out) > maxEntries {
			return nil, ErrLimit
		}
	}
	if len(out) == 0 {
		return nil, ErrEmpty
	}
	return out, nil
}

// openAIModel is an entry of an OpenAI-compatible list.
func openAIModel(m jsonscan.Value) (Entry, bool) {
	return Entry{Model: m.Get("id").LenientText()}, true
}

func anthropicModel(m jsonscan.Value) (Entry, bool) {
	e := Entry{Model: m.Get("id").LenientText(), DisplayName: m.Get("display_name").LenientText()}
	e.ContextWindow, _ = m.Get("max_input_tokens").Uint64()
	e.MaxOutputTokens, _ = m.Get("max_tokens").Uint64()
	return e, true
}

// codexModel leaves out what the service hides or does not offer to us.
func codexModel(m jsonscan.Value) (Entry, bool) {
	if api, ok := m.Get("supported_in_api").Bool(); ok && !api {
		return Entry{}, false
	}
	if hidden, _ := m.Get("hidden").Bool(); hidden || m.Get("visibility").Is("hide") || m.Get("visibility").Is("none") {
		return Entry{}, false
	}
	e := Entry{Model: m.Get("slug").LenientText(), DisplayName: m.Get("display_name").LenientText(), Description: m.Get("description").LenientText()}
	e.ContextWindow, _ = m.Get("context_window").Uint64()
	e.MaxContextWindow, _ = m.Get("max_context_window").Uint64()
	if e.ContextWindow == 0 {
		e.ContextWindow = e.MaxContextWindow
	}
	if levels := m.Get("supported_reasoning_levels"); levels.Kind() == jsonscan.Array {
		for l := range levels.Elements() {
			e.addEffort(l.Get("effort").LenientText())
		}
		yes := len(e.ReasoningEfforts) > 0
		e.SupportsReasoning = &yes
	}
	for t := range m.Get("service_tiers").Elements() {
		tier := Tier{ID: t.Get("id").LenientText(), Name: t.Get("name").LenientText(), Description: t.Get("description").LenientText()}
		if tier.ID != "" {
			e.Tiers = append(e.Tiers, tier)
		}
	}
	return e, true
}

// addEffort adds a level as the APIs spell it; unknown ones are dropped.
func (e *Entry) addEffort(word string) {
	l := provider.Level(word)
	switch word {
	case "none":
		l = provider.LevelDefault
	case "xhigh":
		l = provider.LevelXHigh
	}
	if Valid(l) {
		e.ReasoningEfforts = append(e.ReasoningEfforts, l)
	}
}

// get fetches a JSON value within a time and a size.
func (f *Fetcher) get(ctx context.Context, url string, header http.Header, timeout time.Duration, limit int64) (jsonscan.Value, error) {
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, url, nil)
	if err != nil {
		return nil, ErrUnavailable
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Accept", "application/json")
	resp, err := f.HTTP.RoundTrip(req)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, ErrRejected
	case http.StatusTooManyRequests:
		return nil, ErrRateLimited
	default:
		return nil, fmt.Errorf("%w (HTTP status %d)", ErrUnavailable, resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case int64(len(raw)) > limit:
		return nil, ErrLimit
	}
	v, err := jsonscan.Parse(raw, jsonscan.Options{AnyNumber: true, LoneSurrogates: true})
	if err != nil {
		return nil, ErrInvalid
	}
	return v, nil
}

func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return ErrTimeout
	}
	return ErrUnavailable
}

// finish gives entries their names and holds them against the bounds.
func finish(p Provider, entries []Entry) ([]Entry, error) {
	seen := make(map[string]bool, len(entries))
	for i := range entries {
		e := &entries[i]
		if seen[e.Model] || strings.TrimSpace(e.Model) == "" {
			return nil, ErrInvalid
		}
		seen[e.Model] = true
		e.Provider, e.ID = p.ID, p.ID+"/"+e.Model
	}
	if p.Custom {
		for _, m := range normalise(p.Extra) {
			if !seen[m] {
				entries = append(entries, Entry{Provider: p.ID, Model: m, ID: p.ID + "/" + m})
			}
		}
	}
	switch {
	case len(entries) == 0:
		return nil, ErrEmpty
	case len(entries) > maxEntries:
		return nil, ErrLimit
	}
	return entries, nil
}
