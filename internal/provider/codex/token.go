package codex

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/jsonscan"
)

// tokenURL and clientID are constants of the service, never settings: a cloned
// repository must not be able to send refresh tokens elsewhere (providers.md 1).
const (
	tokenURL = "https://auth.openai.com/oauth/token"
	clientID = "app_EMoamEEZ73f0CkXaXp7hrann"

	tokenTimeout  = 30 * time.Second
	maxTokenBytes = 2 << 20
)

var errToken = errors.New("refreshing the ChatGPT login failed")

// TokenClient trades refresh tokens. Its Exchange is an auth.Exchange.
type TokenClient struct {
	HTTP http.RoundTripper
	// URL replaces the service's address; tests only.
	URL string
	// Now is the wall clock; nil is time.Now.
	Now func() time.Time
}

// Exchange trades a refresh token for a new record, within 30 s. No error holds
// any part of what the service answered.
func (c *TokenClient) Exchange(ctx context.Context, refresh auth.Secret) (auth.Record, error) {
	rec, err := c.post(ctx, url.Values{"grant_type": {"refresh_token"}, "client_id": {clientID}, "refresh_token": {string(refresh)}})
	if err != nil {
		return auth.Record{}, fmt.Errorf("%w: %w", errToken, err)
	}
	return rec, nil
}

// post asks the token endpoint for a record, within 30 s.
func (c *TokenClient) post(ctx context.Context, form url.Values) (auth.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, cmp.Or(c.URL, tokenURL), strings.NewReader(form.Encode()))
	if err != nil {
		return auth.Record{}, errors.New("the service's address is malformed")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.HTTP.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return auth.Record{}, context.Cause(ctx)
		}
		return auth.Record{}, errors.New("the service was not reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return auth.Record{}, fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenBytes+1))
	if err != nil || len(raw) > maxTokenBytes {
		return auth.Record{}, errors.New("the answer was not read")
	}
	return c.record(raw)
}

func (c *TokenClient) record(raw []byte) (auth.Record, error) {
	v, err := jsonscan.Parse(raw, jsonscan.Options{AnyNumber: true})
	if err != nil {
		return auth.Record{}, errors.New("the answer is no JSON")
	}
	access, _ := v.Get("access_token").Text()
	if access == "" {
		return auth.Record{}, errors.New("the answer holds no access token")
	}
	rec := auth.Record{Kind: auth.KindOAuth, Access: auth.Secret(access)}
	if refresh, _ := v.Get("refresh_token").Text(); refresh != "" {
		s := auth.Secret(refresh)
		rec.Refresh = &s
	}
	if in := v.Get("expires_in"); in != nil && in.Kind() != jsonscan.Null {
		at, err := c.expiry(in)
		if err != nil {
			return auth.Record{}, err
		}
		rec.Expires = &at
	}
	account := accountOf(v, access)
	if account == "" {
		return auth.Record{}, errors.New("the answer names no account")
	}
	rec.AccountID = &account
	return rec, nil
}

func (c *TokenClient) expiry(in jsonscan.Value) (int64, error) {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	seconds, ok := in.Int64()
	if !ok || seconds < 0 || seconds > math.MaxInt64-now().Unix() {
		return 0, errors.New("expires_in is out of range")
	}
	return now().Unix() + seconds, nil
}

// accountOf finds the account id: in the answer, else in a token's claims.
func accountOf(v jsonscan.Value, access string) string {
	for _, key := range []string{"accountId", "account_id"} {
		if id, _ := v.Get(key).Text(); id != "" {
			return id
		}
	}
	if id := AccountID(access); id != "" {
		return id
	}
	idToken, _ := v.Get("id_token").Text()
	return AccountID(idToken)
}

// AccountID reads the account id from the claims of a JWT; "" when there is
// none. The token is decoded, not verified: it is only sent back to its issuer.
func AccountID(jwt string) string {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return ""
	}
	claims, err := jsonscan.Parse(payload, jsonscan.Options{AnyNumber: true})
	if err != nil {
		return ""
	}
	const ns = "https://api.openai.com/auth"
	for _, v := range []jsonscan.Value{
		claims.Get(ns + ".chatgpt_account_id"), claims.Get(ns).Get("chatgpt_account_id"),
		claims.Get("chatgpt_account_id"), claims.Get("accountId"),
	} {
		if id, _ := v.Text(); id != "" {
			return id
		}
	}
	return ""
}

// ListURL is where the service lists its models; base is "" for DefaultBaseURL.
func ListURL(base string) string {
	if base == "" {
		base = DefaultBaseURL
	}
	return strings.TrimRight(base, "/") + "/models?client_version=" + listVersion
}

// listVersion is the newest client whose models we can use (extensions.md 10).
const listVersion = "0.162.0"

// ListHeader is what the service wants to list its models. It renews a stale
// login first, as New does.
func ListHeader(ctx context.Context, c Config) (http.Header, error) {
	p := &Provider{config: c}
	if err := p.renew(ctx, false); err != nil {
		return nil, err
	}
	h := make(http.Header, 4)
	h.Set("Authorization", "Bearer "+string(p.login.Access))
	h.Set("Chatgpt-Account-Id", accountOfRecord(p.login))
	h.Set("Originator", originator)
	h.Set("User-Agent", userAgent)
	return h, nil
}
