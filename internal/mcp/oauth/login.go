package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/jsonscan"
	"magicode/internal/loopback"
)

// Login is one interactive login.
type Login struct {
	Server config.MCPServer // with HTTP and OAuth
	RT     http.RoundTripper
	Now    func() time.Time
	// Told is the challenge of the server's own answer; empty: it is asked for one.
	Told Challenge
	// Earlier is the login before this one, whose client and scopes are kept.
	Earlier *Record
	// Scopes are asked for besides those of the definition.
	Scopes []string
	Port   int // of the loopback callback; 0: any
	// Visit shows the URL to the user, who comes back through the callback. It
	// must not block.
	Visit func(url string) error
	// Phase is told what begins; may be nil.
	Phase func(string)
}

// Phases of a login.
const (
	PhaseDiscovery    = "discovery"
	PhaseRegistration = "registration"
	PhaseConsent      = "consent"
	PhaseExchange     = "exchange"
)

func (l *Login) phase(p string) {
	if l.Phase != nil {
		l.Phase(p)
	}
}

// Run logs in: discovery, registration where it is needed, the user's consent in
// a browser, and the exchange of the code. It returns when that is done or ctx
// ends. The record is the caller's to store.
func (l *Login) Run(ctx context.Context) (Record, error) {
	l.phase(PhaseDiscovery)
	if l.Told == (Challenge{}) {
		l.Told = l.ask(ctx)
	}
	p, err := finder{rt: l.RT, server: l.Server.HTTP.URL, told: l.Told, fixed: l.Server.HTTP.OAuth.AuthorizationServer}.find(ctx)
	if err != nil {
		return Record{}, err
	}
	back, err := listen(l.Port, p)
	if err != nil {
		return Record{}, err
	}
	defer back.Close()
	scopes := l.scopes(p)
	c, err := l.client(ctx, p, back.Redirect(), scopes)
	if err != nil {
		return Record{}, err
	}
	l.phase(PhaseConsent)
	verifier := loopback.Random()
	if err := l.Visit(l.consentURL(p, c, back, scopes, verifier)); err != nil {
		return Record{}, err
	}
	code, err := back.Wait(ctx)
	if err != nil {
		return Record{}, err
	}
	l.phase(PhaseExchange)
	limited, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	g, err := c.exchange(limited, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back.Redirect()},
		"code_verifier": {verifier}, "resource": {p.resource},
	})
	if err != nil {
		return Record{}, err
	}
	return l.record(p, c, scopes, g), nil
}

// ask makes a request without a token, to see what the server says. One that
// says nothing is looked up by its URL.
func (l *Login) ask(ctx context.Context) Challenge {
	ctx, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Server.HTTP.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return Challenge{}
	}
	for k, v := range l.Server.HTTP.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := l.RT.RoundTrip(req)
	if err != nil {
		return Challenge{} // discovery says it better
	}
	defer res.Body.Close()
	return ParseChallenge(res.Header)
}

func (l *Login) record(p place, c client, scopes []string, g grant) Record {
	r := Record{ClientID: c.id, ClientSecret: c.secret, ServerURL: l.Server.HTTP.URL, GrantedScopes: append([]string{}, scopes...),
		AuthorizationServer: &p.server, TokenEndpoint: &p.token, Resource: &p.resource}
	if p.issuer != "" {
		r.Issuer = &p.issuer
	}
	r.apply(g, l.Now())
	return r
}

// scopes: the definition's, else what the server's answer asks for, else all
// that its metadata names; and always those that were granted or asked for
// besides, so that a step up loses nothing.
func (l *Login) scopes(p place) []string {
	var out []string
	add := func(more []string) {
		for _, s := range more {
			if s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	switch told := strings.Fields(l.Told.Scope); {
	case len(l.Server.HTTP.OAuth.Scopes) > 0:
		add(l.Server.HTTP.OAuth.Scopes)
	case len(told) > 0:
		add(told)
	default:
		add(p.scopes)
	}
	if l.Told.Error == "insufficient_scope" && l.Earlier != nil {
		add(strings.Fields(l.Told.Scope))
		add(l.Earlier.GrantedScopes)
	}
	add(l.Scopes)
	return out
}

// client is the configured one, the one of an earlier login at the same server,
// or a new one.
func (l *Login) client(ctx context.Context, p place, redirect string, scopes []string) (client, error) {
	c := client{rt: l.RT, endpoint: p.token, methods: p.methods}
	e := l.Earlier
	if id := l.Server.HTTP.OAuth.ClientID; id != nil {
		c.id = *id
		if e != nil && e.ClientID == *id {
			c.secret = e.ClientSecret
		}
		return c, nil
	}
	// A registered callback with a port of its own fits only a server that
	// ignores ports on loopback, as RFC 8252 asks; registering anew is safe.
	if p.registration == "" {
		return c, errors.New("the authorization server registers no clients: set oauth.client_id in the definition")
	}
	l.phase(PhaseRegistration)
	return l.register(ctx, c, p, redirect, scopes)
}

func (l *Login) register(ctx context.Context, c client, p place, redirect string, scopes []string) (client, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeWait)
	defer cancel()
	b := jsonscan.AppendString([]byte(`{"client_name":"magi-code","application_type":"native","redirect_uris":[`), redirect)
	b = append(b, `],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":`...)
	b = jsonscan.AppendString(b, registered(p.methods))
	if len(scopes) > 0 {
		b = jsonscan.AppendString(append(b, `,"scope":`...), strings.Join(scopes, " "))
	}
	v, status, err := fetch(ctx, l.RT, http.MethodPost, p.registration, http.Header{"Content-Type": {"application/json"}}, string(append(b, '}')))
	if err != nil {
		return c, err
	}
	if c.id = v.Get("client_id").LenientText(); c.id == "" || status != http.StatusCreated && status != http.StatusOK {
		return c, fmt.Errorf("the authorization server did not register a client (HTTP status %d)", status)
	}
	if s := auth.Secret(v.Get("client_secret").LenientText()); s != "" {
		c.secret = &s
	}
	if m := v.Get("token_endpoint_auth_method").LenientText(); m != "" {
		c.methods = []string{m}
	}
	return c, nil
}

// registered is the way of authentication to register for: a program on a user's
// machine keeps no secret if it need not.
func registered(methods []string) string {
	for _, m := range []string{wayNone, wayBasic, wayPost} {
		if slices.Contains(methods, m) {
			return m
		}
	}
	return wayNone
}

func (l *Login) consentURL(p place, c client, back *loopback.Callback, scopes []string, verifier string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {back.Redirect()}, "state": {back.State()},
		"code_challenge": {loopback.Challenge(verifier)}, "code_challenge_method": {"S256"}, "resource": {p.resource},
	}
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	if slices.Contains(scopes, "offline_access") {
		q.Set("prompt", "consent") // OpenID providers give a refresh token only then
	}
	sep := "?"
	if strings.Contains(p.authorization, "?") {
		sep = "&"
	}
	return p.authorization + sep + q.Encode()
}

// listen waits for the answer of the server at p.
func listen(port int, p place) (*loopback.Callback, error) {
	return loopback.Listen(loopback.Options{Ports: []int{port}, Path: "/callback", Refused: func(q url.Values) error {
		iss := q.Get("iss")
		switch {
		case iss != "" && iss != p.issuer, iss == "" && p.issInResponse:
			return errors.New("the answer came from another authorization server")
		case q.Get("error") != "":
			return &grantError{word(q.Get("error"))}
		}
		return nil
	}})
}
