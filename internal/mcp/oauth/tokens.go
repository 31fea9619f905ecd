package oauth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"magicode/internal/config"
)

const (
	// refreshAhead: a token with at most 60 s left is renewed (storage.md 4.4).
	refreshAhead = 60
	// exchangeWait bounds one request to an authorization server.
	exchangeWait = 30 * time.Second
	// maxRaces is how often another process may change the file in between.
	maxRaces = 3
)

// Tokens gives the bearer tokens of one server. It implements mcp.Authorizer and
// is safe for concurrent use: one refresh at a time.
type Tokens struct {
	store  *Store
	server config.MCPServer
	rt     http.RoundTripper
	now    func() time.Time
	turn   chan struct{}
}

// NewTokens returns the tokens of a server with oauth. It opens nothing.
func NewTokens(store *Store, server config.MCPServer, rt http.RoundTripper, now func() time.Time) *Tokens {
	return &Tokens{store: store, server: server, rt: rt, now: now, turn: make(chan struct{}, 1)}
}

// Token returns an access token with more than 60 s to live, refreshing it first
// where it must. refused is a token that the server did not take. ErrLoginNeeded
// means that only a login helps.
func (t *Tokens) Token(ctx context.Context, refused string) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	for range maxRaces {
		r, err := t.read()
		if err != nil {
			return "", err
		}
		if r.good(t.now()) && string(r.AccessToken) != refused {
			return string(r.AccessToken), nil
		}
		if r.RefreshToken == nil || *r.RefreshToken == "" {
			return t.last(r, refused)
		}
		token, done, err := t.refresh(ctx, r)
		if done || err != nil {
			return token, err
		}
	}
	return "", fmt.Errorf("%w: the token file keeps changing", ErrLoginNeeded)
}

// good reports more than 60 s to live.
func (r Record) good(now time.Time) bool {
	return r.AccessToken != "" && (r.ExpiresAt == nil || *r.ExpiresAt > now.Unix()+refreshAhead)
}

// last uses a token that cannot be renewed to its end.
func (t *Tokens) last(r Record, refused string) (string, error) {
	if string(r.AccessToken) == refused || r.AccessToken == "" || r.ExpiresAt != nil && *r.ExpiresAt <= t.now().Unix() {
		return "", fmt.Errorf("%w: the login has expired", ErrLoginNeeded)
	}
	return string(r.AccessToken), nil
}

// read returns the stored record if it is for this definition.
func (t *Tokens) read() (Record, error) {
	r, err := t.store.Read(t.server.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Record{}, fmt.Errorf("%w: there is no login yet", ErrLoginNeeded)
	case err != nil:
		return Record{}, fmt.Errorf("%w: the token file cannot be used (it must be a private, well-formed file)", ErrLoginNeeded)
	case r.ServerURL != t.server.HTTP.URL:
		return Record{}, fmt.Errorf("%w: the login is for another URL", ErrLoginNeeded)
	}
	o := t.server.HTTP.OAuth
	if o.ClientID != nil && *o.ClientID != r.ClientID ||
		o.AuthorizationServer != nil && r.AuthorizationServer != nil && !sameURL(*o.AuthorizationServer, *r.AuthorizationServer) {
		return Record{}, fmt.Errorf("%w: the login is for another client or authorization server", ErrLoginNeeded)
	}
	return r, nil
}

// refresh trades the refresh token. done is false when the file changed
// meanwhile: what stands there now counts.
func (t *Tokens) refresh(ctx context.Context, r Record) (token string, done bool, err error) {
	if r.TokenEndpoint == nil {
		return "", true, fmt.Errorf("%w: the token file names no token endpoint", ErrLoginNeeded)
	}
	limited, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	c := client{rt: t.rt, id: r.ClientID, secret: r.ClientSecret, endpoint: *r.TokenEndpoint}
	grant, err := c.refresh(limited, *r.RefreshToken, r.Resource)
	if err != nil {
		return t.afterFailure(ctx, r, err)
	}
	fresh := r
	fresh.apply(grant, t.now())
	// The server has spent the old token already: losing the new one would log
	// the user out, so a cancellation does not stop the write.
	swapped, err := t.store.Swap(context.WithoutCancel(ctx), t.server.Name, r, fresh)
	if err != nil {
		return "", true, fmt.Errorf("store the refreshed login: %w", err)
	}
	return string(fresh.AccessToken), swapped, nil
}

// afterFailure: another process may have used the same refresh token first.
func (t *Tokens) afterFailure(ctx context.Context, r Record, failure error) (string, bool, error) {
	if cause := context.Cause(ctx); cause != nil {
		return "", true, cause
	}
	if now, err := t.store.Read(t.server.Name); err == nil && !now.equal(r) {
		return "", false, nil
	}
	var refused *grantError
	if errors.As(failure, &refused) {
		return "", true, fmt.Errorf("%w: %s", ErrLoginNeeded, failure.Error())
	}
	return "", true, fmt.Errorf("refresh the login: %w", failure)
}

// apply puts a grant into a record. What the server does not repeat stays.
func (r *Record) apply(g grant, now time.Time) {
	r.AccessToken, r.ReceivedAt, r.ExpiresAt = g.access, now.Unix(), nil
	if g.refresh != "" {
		r.RefreshToken = &g.refresh
	}
	if g.expiresIn > 0 {
		at := now.Unix() + g.expiresIn
		r.ExpiresAt = &at
	}
	if g.scopes != nil {
		r.GrantedScopes = g.scopes
	}
}
