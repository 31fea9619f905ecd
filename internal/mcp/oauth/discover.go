package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
)

// Challenge is what a server's WWW-Authenticate header says.
type Challenge struct {
	ResourceMetadata string
	Scope            string
	Error            string
}

// ParseChallenge reads the Bearer challenge of a header; other schemes are
// passed over.
func ParseChallenge(header http.Header) Challenge {
	var c Challenge
	for _, h := range header.Values("WWW-Authenticate") {
		_, rest, ok := cutFold(h, "bearer")
		if !ok {
			continue
		}
		for k, v := range parameters(rest) {
			switch strings.ToLower(k) {
			case "resource_metadata":
				c.ResourceMetadata = v
			case "scope":
				c.Scope = v
			case "error":
				c.Error = v
			}
		}
	}
	return c
}

func cutFold(s, sep string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(s), sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// parameters reads name=value and name="value" pairs.
func parameters(s string) map[string]string {
	out := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t,")
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			return out
		}
		name = strings.TrimSpace(name)
		rest = strings.TrimLeft(rest, " \t")
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, s = quoted(rest[1:])
		} else {
			i := strings.IndexAny(rest, ", \t")
			if i < 0 {
				i = len(rest)
			}
			value, s = rest[:i], rest[i:]
		}
		if i := strings.LastIndexAny(name, " \t"); i >= 0 { // "DPoP algs": another scheme begins
			return out
		}
		out[name] = value
	}
}

func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), s[i+1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// place is where a login happens.
type place struct {
	resource      string   // what tokens are asked for
	scopes        []string // that the resource names; nil: none
	server        string   // the authorization server's identifier
	issuer        string   // as its metadata says; "" without metadata
	authorization string
	token         string
	registration  string // "" for none
	methods       []string
	issInResponse bool
	legacy        bool // found by the server's origin alone, not by a name
}

// finder looks up where to log in.
type finder struct {
	rt     http.RoundTripper
	server string // the MCP server's URL
	told   Challenge
	fixed  *string // a configured authorization server
}

// find follows the MCP authorization text: protected resource metadata, then the
// authorization server's, path-based forms first. A server without either is an
// older one whose own origin is the authorization server.
func (f finder) find(ctx context.Context) (place, error) {
	p := place{resource: canonical(f.server)}
	if err := f.resource(ctx, &p); err != nil {
		return p, err
	}
	if f.fixed != nil {
		p.server, p.legacy = *f.fixed, false
	}
	found, err := f.metadata(ctx, &p)
	if err != nil || found {
		return p, err
	}
	if !p.legacy {
		return p, fmt.Errorf("the authorization server %s publishes no metadata", shownURL(p.server))
	}
	p.authorization, p.token, p.registration = p.server+"/authorize", p.server+"/token", p.server+"/register"
	return p, nil
}

// resource reads the protected resource metadata.
func (f finder) resource(ctx context.Context, p *place) error {
	u, err := url.Parse(f.server)
	if err != nil {
		return errors.New("the server's URL is not usable")
	}
	origin := u.Scheme + "://" + u.Host
	const known = "/.well-known/oauth-protected-resource"
	tries := []string{}
	if f.told.ResourceMetadata != "" {
		tries = append(tries, f.told.ResourceMetadata)
	} else {
		if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
			tries = append(tries, origin+known+path)
		}
		tries = append(tries, origin+known)
	}
	for _, where := range tries {
		v, status, err := fetch(ctx, f.rt, http.MethodGet, where, nil, "")
		if err != nil {
			return err
		}
		if status == http.StatusOK && v != nil {
			return f.useResource(v, p)
		}
	}
	p.server, p.legacy = origin, true
	return nil
}

func (f finder) useResource(v jsonscan.Value, p *place) error {
	name := v.Get("resource").LenientText()
	if !covers(name, f.server) {
		return errors.New("the server's metadata is for another resource")
	}
	p.resource = name
	for s := range v.Get("scopes_supported").Elements() {
		p.scopes = append(p.scopes, s.LenientText())
	}
	for s := range v.Get("authorization_servers").Elements() {
		if p.server == "" {
			p.server = s.LenientText()
		}
	}
	if p.server == "" && f.fixed == nil {
		return errors.New("the server's metadata names no authorization server")
	}
	return nil
}

// covers: a resource is the server's URL, or a parent of it on the same origin.
func covers(resource, server string) bool {
	r, err1 := url.Parse(resource)
	s, err2 := url.Parse(server)
	if err1 != nil || err2 != nil || !strings.EqualFold(r.Scheme, s.Scheme) || !strings.EqualFold(r.Host, s.Host) {
		return false
	}
	parent := strings.TrimSuffix(r.EscapedPath(), "/")
	return strings.TrimSuffix(s.EscapedPath(), "/") == parent || strings.HasPrefix(s.EscapedPath(), parent+"/")
}

// canonical is a server's URL as a resource: RFC 8707.
func canonical(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	u.Scheme, u.Host, u.Fragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), ""
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}

// metadata reads the authorization server's metadata.
func (f finder) metadata(ctx context.Context, p *place) (found bool, err error) {
	for _, where := range metadataURLs(p.server) {
		v, status, err := fetch(ctx, f.rt, http.MethodGet, where, nil, "")
		if err != nil {
			return false, err
		}
		if status == http.StatusOK && v != nil {
			return true, p.useMetadata(v)
		}
	}
	return false, nil
}

func metadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	out := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		out = append(out, origin+path+"/.well-known/openid-configuration")
	}
	return out
}

func (p *place) useMetadata(v jsonscan.Value) error {
	p.issuer = v.Get("issuer").LenientText()
	// An older server's authorization server has no name that its issuer could be
	// held against, only a place.
	if !sameURL(p.issuer, p.server) && !(p.legacy && strings.HasPrefix(p.issuer, p.server+"/")) {
		return errors.New("the authorization server's metadata is for another issuer")
	}
	p.authorization, p.token = v.Get("authorization_endpoint").LenientText(), v.Get("token_endpoint").LenientText()
	p.registration = v.Get("registration_endpoint").LenientText()
	for _, e := range []string{p.authorization, p.token} {
		if err := checkURL(e); err != nil {
			return err
		}
	}
	for m := range v.Get("token_endpoint_auth_methods_supported").Elements() {
		p.methods = append(p.methods, m.LenientText())
	}
	p.issInResponse, _ = v.Get("authorization_response_iss_parameter_supported").Bool()
	var challenges []string
	for c := range v.Get("code_challenge_methods_supported").Elements() {
		challenges = append(challenges, c.LenientText())
	}
	if !slices.Contains(challenges, "S256") {
		return errors.New("the authorization server does not support PKCE with S256, which is required")
	}
	return nil
}
