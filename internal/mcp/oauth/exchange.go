package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"magicode/internal/auth"
	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// maxBody bounds what is read of an authorization server.
const maxBody = 1 << 20

// grant is a token endpoint's answer.
type grant struct {
	access, refresh auth.Secret
	expiresIn       int64    // seconds; 0: unknown
	scopes          []string // nil: not said
}

// grantError is a refusal that trying again does not change.
type grantError struct{ code string }

func (e *grantError) Error() string {
	return "the authorization server refused: " + e.code
}

// client is a registered client at one token endpoint.
type client struct {
	rt       http.RoundTripper
	id       string
	secret   *auth.Secret
	endpoint string
	// methods are the ways to prove the secret that the server offers; empty is
	// unknown: basic is tried, then post.
	methods []string
}

func (c client) refresh(ctx context.Context, token auth.Secret, resource *string) (grant, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {string(token)}}
	if resource != nil {
		form.Set("resource", *resource)
	}
	return c.exchange(ctx, form)
}

// exchange posts a form to the token endpoint.
func (c client) exchange(ctx context.Context, form url.Values) (grant, error) {
	ways := c.ways()
	for i, way := range ways {
		g, status, err := c.post(ctx, form, way)
		var refused *grantError
		if i+1 < len(ways) && status == http.StatusUnauthorized && errors.As(err, &refused) && refused.code == "invalid_client" {
			continue
		}
		return g, err
	}
	return grant{}, errors.New("the authorization server takes no way of authentication that this client has")
}

const (
	wayNone  = "none"
	wayBasic = "client_secret_basic"
	wayPost  = "client_secret_post"
)

// ways are the authentications to try.
func (c client) ways() []string {
	if c.secret == nil || *c.secret == "" {
		return []string{wayNone}
	}
	switch {
	case len(c.methods) == 0:
		return []string{wayBasic, wayPost}
	case slices.Contains(c.methods, wayBasic):
		return []string{wayBasic}
	case slices.Contains(c.methods, wayPost):
		return []string{wayPost}
	case slices.Contains(c.methods, wayNone):
		return []string{wayNone}
	}
	return nil
}

func (c client) post(ctx context.Context, form url.Values, way string) (grant, int, error) {
	body := url.Values{}
	for k, v := range form {
		body[k] = v
	}
	header := http.Header{}
	switch way {
	case wayBasic: // RFC 6749 2.3.1: both are form-encoded first
		pair := url.QueryEscape(c.id) + ":" + url.QueryEscape(string(*c.secret))
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case wayPost:
		body.Set("client_secret", string(*c.secret))
		body.Set("client_id", c.id)
	default:
		body.Set("client_id", c.id)
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	v, status, err := fetch(ctx, c.rt, http.MethodPost, c.endpoint, header, body.Encode())
	if err != nil {
		return grant{}, status, err
	}
	if code := v.Get("error").LenientText(); code != "" {
		return grant{}, status, &grantError{word(code)}
	}
	if status != http.StatusOK {
		return grant{}, status, fmt.Errorf("the token endpoint answered with HTTP status %d", status)
	}
	return grantOf(v, status)
}

func grantOf(v jsonscan.Value, status int) (grant, int, error) {
	access := v.Get("access_token").LenientText()
	if access == "" || !strings.EqualFold(v.Get("token_type").LenientText(), "bearer") || !headerSafe(access) {
		return grant{}, status, errors.New("the token endpoint gave no bearer token")
	}
	g := grant{access: auth.Secret(access), refresh: auth.Secret(v.Get("refresh_token").LenientText())}
	if n, ok := v.Get("expires_in").Int64(); ok && n > 0 && n < 1<<40 {
		g.expiresIn = n
	}
	if v.Get("scope").IsText() {
		g.scopes = append([]string{}, strings.Fields(v.Get("scope").LenientText())...)
	}
	return g, status, nil
}

// headerSafe: a token goes into a header as it is.
func headerSafe(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// word is an error code of a server, if it looks like one.
func word(s string) string {
	if len(s) > 64 || strings.IndexFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) >= 0 {
		return "an unknown reason"
	}
	return s
}

// fetch makes one request and reads a JSON object. A body that is none gives an
// absent value; the status is told in any case.
func fetch(ctx context.Context, rt http.RoundTripper, method, where string, header http.Header, body string) (jsonscan.Value, int, error) {
	if err := checkURL(where); err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, method, where, strings.NewReader(body))
	if err != nil {
		return nil, 0, errors.New("an endpoint's URL is not usable")
	}
	for k := range header {
		req.Header[k] = header[k]
	}
	req.Header.Set("Accept", "application/json")
	res, err := rt.RoundTrip(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, 0, cause
		}
		return nil, 0, fmt.Errorf("%s cannot be reached: %s", shownURL(where), redact.Cut(redact.Display(err.Error()), 256))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil || len(data) > maxBody {
		return nil, res.StatusCode, fmt.Errorf("the answer of %s could not be read", shownURL(where))
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	v, err := jsonscan.Parse(data, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil || v.Kind() != jsonscan.Object || kind != "" && !strings.HasSuffix(kind, "json") {
		return nil, res.StatusCode, nil
	}
	return v, res.StatusCode, nil
}

// checkURL: https, or http on this machine; no user, no fragment.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("an endpoint is no usable URL")
	}
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s is neither https nor on this machine", shownURL(s))
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "an endpoint"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// sameURL compares issuers, which differ in a closing slash only by carelessness.
func sameURL(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }
