package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/loopback"
)

// The service's side of a login: constants like tokenURL, and for its reason.
// The client is registered for exactly these two callbacks on localhost.
const (
	authorizeURL = "https://auth.openai.com/oauth/authorize"
	loginScopes  = "openid profile email offline_access"
	callbackPath = "/auth/callback"
	callbackHost = "localhost"
)

// CallbackPorts are where a login's browser can come back to.
var CallbackPorts = []int{1455, 1457}

var errLogin = errors.New("the ChatGPT login failed")

// Login is one interactive login with a ChatGPT account: PKCE, and a callback on
// this machine.
type Login struct {
	HTTP http.RoundTripper
	// Visit shows the address to the user, whose browser comes back to the
	// callback. It must not block.
	Visit func(address string) error
	// AuthorizeURL, TokenURL and Ports replace the service's; tests only.
	AuthorizeURL, TokenURL string
	Ports                  []int
	// Now is the wall clock; nil is time.Now.
	Now func() time.Time
}

// Run logs in. It returns when that is done, is refused, or ctx ends. The record
// is the caller's to store. No error holds any part of a credential.
func (l *Login) Run(ctx context.Context) (auth.Record, error) {
	ports := l.Ports
	if ports == nil {
		ports = CallbackPorts
	}
	back, err := loopback.Listen(loopback.Options{Ports: ports, Host: callbackHost, Path: callbackPath, Refused: refused})
	if err != nil {
		return auth.Record{}, fmt.Errorf("%w: %w: another login may be waiting, or another program uses the ports 1455 and 1457", errLogin, err)
	}
	defer back.Close()
	verifier := loopback.Random()
	if err := l.Visit(l.address(back, verifier)); err != nil {
		return auth.Record{}, err
	}
	code, err := back.Wait(ctx)
	if err != nil {
		return auth.Record{}, fmt.Errorf("%w: %w", errLogin, err)
	}
	rec, err := (&TokenClient{HTTP: l.HTTP, URL: l.TokenURL, Now: l.Now}).post(ctx, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {clientID}, "code": {code},
		"redirect_uri": {back.Redirect()}, "code_verifier": {verifier},
	})
	if err != nil {
		return auth.Record{}, fmt.Errorf("%w: the code could not be exchanged: %w", errLogin, err)
	}
	return rec, nil
}

func (l *Login) address(back *loopback.Callback, verifier string) string {
	return cmp.Or(l.AuthorizeURL, authorizeURL) + "?" + url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {back.Redirect()}, "scope": {loginScopes},
		"code_challenge": {loopback.Challenge(verifier)}, "code_challenge_method": {"S256"}, "state": {back.State()},
		"id_token_add_organizations": {"true"}, "codex_cli_simplified_flow": {"true"}, "originator": {originator},
	}.Encode()
}

// refused takes the service's word for why it sends no code, if it is one.
func refused(q url.Values) error {
	why := q.Get("error")
	switch {
	case why == "":
		return nil
	case len(why) > 64 || strings.Trim(why, "abcdefghijklmnopqrstuvwxyz_") != "":
		why = "an unknown reason"
	}
	return fmt.Errorf("the service refused: %s", why)
}
