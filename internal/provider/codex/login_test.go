package codex_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider/codex"
)

// authority is an authorization server whose user says yes.
type authority struct {
	*httptest.Server
	answer    func(q url.Values)                        // changes the redirect
	token     func(w http.ResponseWriter, f url.Values) // replaces the answer
	mu        sync.Mutex
	asked     url.Values
	exchanges []url.Values
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path == "/authorize" {
		a.asked = r.URL.Query()
		q := url.Values{"code": {"the-code"}, "state": {a.asked.Get("state")}}
		if a.answer != nil {
			a.answer(q)
		}
		http.Redirect(w, r, a.asked.Get("redirect_uri")+"?"+q.Encode(), http.StatusFound)
		return
	}
	_ = r.ParseForm()
	a.exchanges = append(a.exchanges, r.PostForm)
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case a.token != nil:
		a.token(w, r.PostForm)
	case r.PostForm.Get("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != a.asked.Get("code_challenge"),
		r.PostForm.Get("redirect_uri") != a.asked.Get("redirect_uri"):
		w.WriteHeader(http.StatusBadRequest)
	default:
		io.WriteString(w, `{"access_token":"access-secret","refresh_token":"refresh-secret","expires_in":3600,"account_id":"acct_1"}`)
	}
}

// login runs one against a, with a browser that follows the redirect.
func (a *authority) login(t *testing.T, ctx context.Context) (auth.Record, error) {
	t.Helper()
	rt := &http.Transport{DisableKeepAlives: true}
	var wg sync.WaitGroup
	defer wg.Wait()
	l := &codex.Login{HTTP: rt, AuthorizeURL: a.URL + "/authorize", TokenURL: a.URL + "/token", Ports: []int{0},
		Now: func() time.Time { return time.Unix(1000, 0) },
		Visit: func(address string) error {
			wg.Go(func() {
				if res, err := (&http.Client{Transport: rt}).Get(address); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
			return nil
		}}
	return l.Run(ctx)
}

func TestLogin(t *testing.T) {
	a := newAuthority(t)
	rec, err := a.login(t, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refresh, expires, account := auth.Secret("refresh-secret"), int64(4600), "acct_1"
	if !rec.Equal(auth.Record{Kind: auth.KindOAuth, Access: "access-secret", Refresh: &refresh, Expires: &expires, AccountID: &account}) {
		t.Errorf("%+v", rec)
	}
	back, err := url.Parse(a.asked.Get("redirect_uri"))
	if err != nil || back.Hostname() != "localhost" || back.Path != "/auth/callback" {
		t.Error(back, err)
	}
	for key, want := range map[string]string{
		"response_type": "code", "client_id": "app_EMoamEEZ73f0CkXaXp7hrann", "scope": "openid profile email offline_access",
		"code_challenge_method": "S256", "codex_cli_simplified_flow": "true", "id_token_add_organizations": "true",
	} {
		if got := a.asked.Get(key); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	if len(a.exchanges) != 1 || a.exchanges[0].Get("client_id") != "app_EMoamEEZ73f0CkXaXp7hrann" || len(a.exchanges[0].Get("code_verifier")) != 43 {
		t.Errorf("%d exchanges", len(a.exchanges))
	}
}

func TestLoginFails(t *testing.T) {
	answer := func(text string) func(http.ResponseWriter, url.Values) {
		return func(w http.ResponseWriter, _ url.Values) { io.WriteString(w, text) }
	}
	for name, c := range map[string]struct {
		answer func(url.Values)
		token  func(http.ResponseWriter, url.Values)
		want   string
	}{
		"refused":       {answer: func(q url.Values) { q.Set("error", "access_denied") }, want: "the service refused: access_denied"},
		"odd word":      {answer: func(q url.Values) { q.Set("error", "sk-secret <b>") }, want: "the service refused: an unknown reason"},
		"no code":       {answer: func(q url.Values) { q.Del("code") }, want: "sent no code"},
		"another code":  {answer: func(q url.Values) { q.Set("code", "secret-code") }, want: "HTTP status 400"},
		"no account":    {token: answer(`{"access_token":"secret"}`), want: "the answer names no account"},
		"no token":      {token: answer(`{"account_id":"secret"}`), want: "holds no access token"},
		"no JSON":       {token: answer(`secret`), want: "the answer is no JSON"},
		"too long":      {token: answer(`"` + strings.Repeat("s", 3<<20)), want: "was not read"},
		"another state": {answer: func(q url.Values) { q.Set("state", "x") }, want: "nobody came back"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			a.answer, a.token = c.answer, c.token
			ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("too slow"))
			if c.want == "nobody came back" {
				ctx, cancel = context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New(c.want))
			}
			defer cancel()
			_, err := a.login(t, ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestLoginPortsTaken: the message names them.
func TestLoginPortsTaken(t *testing.T) {
	l := &codex.Login{Ports: []int{-1}, Visit: func(string) error { t.Error("visited"); return nil }}
	if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "1455") {
		t.Error(err)
	}
}
