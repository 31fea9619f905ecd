package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// authority is an MCP server's metadata and an authorization server in one.
type authority struct {
	*httptest.Server
	mu       sync.Mutex
	metadata map[string]any     // of the authorization server; nil: none
	resource map[string]any     // nil: none
	asPath   string             // where the authorization server's identifier has a path
	answer   func(q url.Values) // changes the redirect's query
	token    func(w http.ResponseWriter, form url.Values, basic string)

	paths     []string
	consent   url.Values
	challenge string
	forms     []url.Values
	registers []map[string]any
	refreshes int
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	a.metadata = map[string]any{
		"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
	}
	a.resource = map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}, "scopes_supported": []string{"read", "write"}}
	return a
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	put := func(v map[string]any) {
		if v == nil {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp", "/elsewhere":
		put(a.resource)
	case "/.well-known/oauth-authorization-server" + a.asPath:
		put(a.metadata)
	case "/register":
		body, _ := io.ReadAll(r.Body)
		var v map[string]any
		_ = json.Unmarshal(body, &v)
		a.registers = append(a.registers, v)
		w.WriteHeader(http.StatusCreated)
		put(map[string]any{"client_id": "registered", "client_secret": "cs"})
	case "/authorize":
		a.consent = r.URL.Query()
		a.challenge = a.consent.Get("code_challenge")
		q := url.Values{"code": {"the-code"}, "state": {a.consent.Get("state")}}
		if a.answer != nil {
			a.answer(q)
		}
		http.Redirect(w, r, a.consent.Get("redirect_uri")+"?"+q.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		a.forms = append(a.forms, r.PostForm)
		if a.token != nil {
			a.token(w, r.PostForm, r.Header.Get("Authorization"))
			return
		}
		a.exchange(w, r.PostForm)
	default:
		http.NotFound(w, r)
	}
}

func (a *authority) exchange(w http.ResponseWriter, form url.Values) {
	if form.Get("grant_type") == "refresh_token" {
		a.refreshes++
		fmt.Fprintf(w, `{"access_token":"fresh-%d","token_type":"Bearer","expires_in":3600,"refresh_token":"r%d"}`, a.refreshes, a.refreshes)
		return
	}
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if form.Get("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != a.challenge {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	io.WriteString(w, `{"access_token":"access","token_type":"bearer","expires_in":60,"refresh_token":"refresh","scope":"read"}`)
}

func (a *authority) server() config.MCPServer {
	return config.MCPServer{Name: "web", HTTP: &config.HTTPServer{URL: a.URL + "/mcp", OAuth: new(config.MCPOAuth)}}
}

var noon = time.Unix(1_800_000_000, 0)

// login plays a user who says yes.
func (a *authority) login(t *testing.T, change func(*Login)) (Record, error) {
	t.Helper()
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var wg sync.WaitGroup
	defer wg.Wait()
	rt := &http.Transport{DisableKeepAlives: true}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	l := &Login{Server: a.server(), RT: rt, Now: func() time.Time { return noon }, Visit: func(u string) error {
		wg.Go(func() {
			if res, err := browser.Get(u); err == nil {
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
		return nil
	}}
	if change != nil {
		change(l)
	}
	return l.Run(ctx)
}

func TestLogin(t *testing.T) {
	a := newAuthority(t)
	var phases []string
	r, err := a.login(t, func(l *Login) { l.Phase = func(p string) { phases = append(phases, p) } })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(phases, " "); got != "discovery registration consent exchange" {
		t.Error(got)
	}
	want := strings.NewReplacer("URL", a.URL).Replace(`{
  "client_id": "registered",
  "access_token": "access",
  "refresh_token": "refresh",
  "expires_at": 1800000060,
  "granted_scopes": [
    "read"
  ],
  "client_secret": "cs",
  "authorization_server": "URL",
  "issuer": "URL",
  "token_endpoint": "URL/token",
  "resource": "URL/mcp",
  "server_url": "URL/mcp",
  "token_received_at": 1800000000
}`)
	if got := string(r.text()); got != want {
		t.Error(got)
	}
	c := a.consent
	if c.Get("scope") != "read write" || c.Get("resource") != a.URL+"/mcp" || c.Get("code_challenge_method") != "S256" || c.Get("client_id") != "registered" {
		t.Errorf("%v", c)
	}
	if a.registers[0]["token_endpoint_auth_method"] != "none" || !strings.HasPrefix(c.Get("redirect_uri"), "http://127.0.0.1:") {
		t.Errorf("%v %v", a.registers, c)
	}
}

func TestLoginVariants(t *testing.T) {
	id := "mine"
	for name, c := range map[string]struct {
		set    func(*authority)
		change func(*Login)
		fails  string
		check  func(*testing.T, *authority, Record)
	}{
		"configured client": {change: func(l *Login) { l.Server.HTTP.OAuth = &config.MCPOAuth{ClientID: &id, Scopes: []string{"own"}} },
			check: func(t *testing.T, a *authority, r Record) {
				if len(a.registers) != 0 || r.ClientID != "mine" || a.consent.Get("scope") != "own" {
					t.Error(a.registers, r.ClientID, a.consent)
				}
			}},
		"path of an issuer": {set: func(a *authority) {
			a.asPath = "/tenant"
			a.metadata["issuer"] = a.URL + "/tenant"
			a.resource["authorization_servers"] = []string{a.URL + "/tenant"}
		}},
		"challenge": {change: func(l *Login) {
			l.Told = Challenge{ResourceMetadata: strings.TrimSuffix(l.Server.HTTP.URL, "/mcp") + "/elsewhere", Scope: "asked"}
		}, check: func(t *testing.T, a *authority, r Record) {
			if a.paths[0] != "GET /elsewhere" || a.consent.Get("scope") != "asked" {
				t.Error(a.paths, a.consent)
			}
		}},
		"step up": {change: func(l *Login) {
			l.Told = Challenge{Scope: "more", Error: "insufficient_scope"}
			l.Earlier = &Record{GrantedScopes: []string{"read"}}
		}, check: func(t *testing.T, a *authority, r Record) {
			if a.consent.Get("scope") != "more read" {
				t.Error(a.consent)
			}
		}},
		"older server": {set: func(a *authority) { a.metadata, a.resource = nil, nil }, check: func(t *testing.T, a *authority, r Record) {
			if r.Issuer != nil || *r.TokenEndpoint != a.URL+"/token" {
				t.Error(string(r.text()))
			}
		}},
		"older server with metadata": {set: func(a *authority) { a.resource = nil; a.metadata["issuer"] = a.URL + "/oauth" }},
		"older server, foreign issuer": {set: func(a *authority) { a.resource = nil; a.metadata["issuer"] = a.URL + ".evil.invalid/" },
			fails: "the authorization server's metadata is for another issuer"},
		"post": {set: func(a *authority) {
			a.metadata["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		},
			check: func(t *testing.T, a *authority, r Record) {
				if a.forms[0].Get("client_secret") != "cs" {
					t.Error(a.forms)
				}
			}},
		"basic": {set: func(a *authority) {
			a.metadata["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
			a.token = func(w http.ResponseWriter, form url.Values, basic string) {
				if basic != "Basic "+base64.StdEncoding.EncodeToString([]byte("registered:cs")) || form.Get("client_id") != "" {
					w.WriteHeader(401)
					return
				}
				a.exchange(w, form)
			}
		}},
		"issuer in the answer": {set: func(a *authority) {
			a.metadata["authorization_response_iss_parameter_supported"] = true
			a.answer = func(q url.Values) { q.Set("iss", a.URL) }
		}},
		"another issuer answers": {set: func(a *authority) { a.answer = func(q url.Values) { q.Set("iss", "https://evil.invalid") } },
			fails: "the answer came from another authorization server"},
		"issuer is missing": {set: func(a *authority) { a.metadata["authorization_response_iss_parameter_supported"] = true },
			fails: "the answer came from another authorization server"},
		"user says no": {set: func(a *authority) { a.answer = func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") } },
			fails: "the authorization server refused: access_denied"},
		"no code":        {set: func(a *authority) { a.answer = func(q url.Values) { q.Del("code") } }, fails: "the authorization server sent no code"},
		"wrong code":     {set: func(a *authority) { a.answer = func(q url.Values) { q.Set("code", "x") } }, fails: "the authorization server refused: invalid_grant"},
		"no PKCE":        {set: func(a *authority) { delete(a.metadata, "code_challenge_methods_supported") }, fails: "the authorization server does not support PKCE with S256, which is required"},
		"other issuer":   {set: func(a *authority) { a.metadata["issuer"] = "https://evil.invalid" }, fails: "the authorization server's metadata is for another issuer"},
		"other resource": {set: func(a *authority) { a.resource["resource"] = "https://evil.invalid/mcp" }, fails: "the server's metadata is for another resource"},
		"plain http": {set: func(a *authority) { a.metadata["token_endpoint"] = "http://auth.invalid/token" },
			fails: "http://auth.invalid/token is neither https nor on this machine"},
		"no registration": {set: func(a *authority) { delete(a.metadata, "registration_endpoint") },
			fails: "the authorization server registers no clients: set oauth.client_id in the definition"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			if c.set != nil {
				c.set(a)
			}
			r, err := a.login(t, c.change)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || err.Error() != c.fails) {
				t.Fatalf("%v", err)
			}
			if c.check != nil {
				c.check(t, a, r)
			}
		})
	}
}

// TestForeignCallbacks: whoever finds the port and not the state changes nothing.
func TestForeignCallbacks(t *testing.T) {
	a := newAuthority(t)
	a.answer = func(q url.Values) { q.Set("state", "guessed") }
	ended := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	l := &Login{Server: a.server(), RT: browser.Transport, Now: time.Now, Visit: func(u string) error {
		res, err := browser.Get(u)
		if err != nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%v %v", res, err)
		}
		res.Body.Close()
		cancel(ended)
		return nil
	}}
	if _, err := l.Run(ctx); !errors.Is(err, ended) {
		t.Error(err)
	}
}

func newStore(t *testing.T) *Store {
	leases := lease.New(lease.Options{})
	t.Cleanup(func() { leases.Close() })
	return &Store{FS: vfs.OS(), Dir: filepath.Join(t.TempDir(), "mcp-tokens"), Lock: func(ctx context.Context, target string, wait time.Duration) (func() error, error) {
		l, err := leases.Acquire(ctx, target, wait)
		if err != nil {
			return nil, err
		}
		return l.Release, nil
	}}
}

func (a *authority) tokens(t *testing.T, s *Store, r Record) *Tokens {
	t.Helper()
	end, res := a.URL+"/token", a.URL+"/mcp"
	r.ClientID, r.ServerURL, r.TokenEndpoint, r.Resource = "c", a.URL+"/mcp", &end, &res
	if err := s.Put(context.Background(), "web", r); err != nil {
		t.Fatal(err)
	}
	return NewTokens(s, a.server(), &http.Transport{DisableKeepAlives: true}, func() time.Time { return noon })
}

func in(seconds int64) *int64 {
	at := noon.Unix() + seconds
	return &at
}

func secret(s string) *auth.Secret { v := auth.Secret(s); return &v }

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		r       Record
		refused string
		want    string
		login   bool
	}{
		"good":                     {r: Record{AccessToken: "a", ExpiresAt: in(61), RefreshToken: secret("r")}, want: "a"},
		"no end":                   {r: Record{AccessToken: "a"}, want: "a"},
		"ends soon":                {r: Record{AccessToken: "a", ExpiresAt: in(60), RefreshToken: secret("r")}, want: "fresh-1"},
		"refused":                  {r: Record{AccessToken: "a", ExpiresAt: in(999), RefreshToken: secret("r")}, refused: "a", want: "fresh-1"},
		"another was refused":      {r: Record{AccessToken: "a", ExpiresAt: in(999), RefreshToken: secret("r")}, refused: "b", want: "a"},
		"ends soon, no refresh":    {r: Record{AccessToken: "a", ExpiresAt: in(5)}, want: "a"},
		"ended, no refresh":        {r: Record{AccessToken: "a", ExpiresAt: in(0)}, login: true},
		"refused, without refresh": {r: Record{AccessToken: "a"}, refused: "a", login: true},
	} {
		a, s := newAuthority(t), newStore(t)
		got, err := a.tokens(t, s, c.r).Token(context.Background(), c.refused)
		if got != c.want || errors.Is(err, ErrLoginNeeded) != c.login || !c.login && err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
		if strings.HasPrefix(c.want, "fresh") {
			r, err := s.Read("web")
			if err != nil || r.AccessToken != "fresh-1" || *r.RefreshToken != "r1" || *r.ExpiresAt != noon.Unix()+3600 || r.ReceivedAt != noon.Unix() {
				t.Errorf("%s: %s %v", name, r.text(), err)
			}
			if f := a.forms[0]; f.Get("refresh_token") != "r" || f.Get("client_id") != "c" || f.Get("resource") != a.URL+"/mcp" {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}

func TestOneRefreshForMany(t *testing.T) {
	a, s := newAuthority(t), newStore(t)
	tokens := a.tokens(t, s, Record{AccessToken: "a", ExpiresAt: in(1), RefreshToken: secret("r")})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := tokens.Token(context.Background(), ""); got != "fresh-1" || err != nil {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	wg.Wait()
	if a.refreshes != 1 {
		t.Errorf("%d refreshes", a.refreshes)
	}
}

// TestRaces: another process logs in or refreshes while this one does.
func TestRaces(t *testing.T) {
	for _, fails := range []bool{false, true} {
		a, s := newAuthority(t), newStore(t)
		tokens := a.tokens(t, s, Record{AccessToken: "a", ExpiresAt: in(1), RefreshToken: secret("r")})
		a.token = func(w http.ResponseWriter, _ url.Values, _ string) {
			other, _ := s.Read("web")
			other.AccessToken, other.ExpiresAt = "theirs", in(999)
			if err := s.Put(context.Background(), "web", other); err != nil {
				t.Error(err)
			}
			if fails {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":"invalid_grant"}`)
				return
			}
			io.WriteString(w, `{"access_token":"ours","token_type":"bearer"}`)
		}
		if got, err := tokens.Token(context.Background(), ""); got != "theirs" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
}

func TestLoginNeeded(t *testing.T) {
	a, s := newAuthority(t), newStore(t)
	tokens := a.tokens(t, s, Record{AccessToken: "a", ExpiresAt: in(1), RefreshToken: secret("r")})
	a.token = func(w http.ResponseWriter, _ url.Values, _ string) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"invalid_grant"}`)
	}
	ask := func(want string, login bool) {
		t.Helper()
		_, err := tokens.Token(context.Background(), "")
		if err == nil || err.Error() != want || errors.Is(err, ErrLoginNeeded) != login {
			t.Errorf("%v", err)
		}
	}
	ask("login needed: the authorization server refused: invalid_grant", true)
	a.token = func(w http.ResponseWriter, _ url.Values, _ string) { w.WriteHeader(http.StatusBadGateway) }
	ask("refresh the login: the token endpoint answered with HTTP status 502", false)
	file := filepath.Join(s.Dir, "web.json")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	ask("login needed: the token file cannot be used (it must be a private, well-formed file)", true)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	tokens.server.HTTP.URL += "?other"
	ask("login needed: the login is for another URL", true)
	if removed, err := s.Remove(context.Background(), "web"); !removed || err != nil {
		t.Error(removed, err)
	}
	ask("login needed: there is no login yet", true)
	if removed, err := s.Remove(context.Background(), "web"); removed || err != nil {
		t.Error(removed, err)
	}
}

func TestRecordFile(t *testing.T) {
	const full = `{
  "client_id": "fake-client",
  "access_token": "fake-access-value",
  "refresh_token": "fake-refresh-value",
  "expires_at": 4102444800,
  "granted_scopes": [
    "read",
    "write"
  ],
  "client_secret": null,
  "authorization_server": "https://auth.invalid",
  "issuer": "https://auth.invalid",
  "token_endpoint": "https://auth.invalid/token",
  "resource": "http://127.0.0.1:9/mcp",
  "server_url": "http://127.0.0.1:9/mcp",
  "token_received_at": 1767225600
}`
	r, err := parse([]byte(full))
	if err != nil || string(r.text()) != full {
		t.Errorf("%v\n%s", err, r.text())
	}
	if s := fmt.Sprintf("%v %+v %s", r, r, r.AccessToken); strings.Contains(s, "fake-access") {
		t.Error("a token can be printed")
	}
	for _, bad := range []string{"", "[]", `{"client_id":"a"}`, `{"client_id":1,"access_token":"b","server_url":"c","token_received_at":1}`,
		`{"client_id":"a","access_token":"b","server_url":"c","token_received_at":1,"expires_at":"soon"}`,
		`{"client_id":"a","access_token":"b","server_url":"c","token_received_at":1,"granted_scopes":"read"}`} {
		if _, err := parse([]byte(bad)); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestChallenges(t *testing.T) {
	for in, want := range map[string]Challenge{
		`Bearer resource_metadata="https://a/b", scope="x y", error=insufficient_scope`: {"https://a/b", "x y", "insufficient_scope"},
		`Basic realm="r"`:                         {},
		`bearer Scope="a\"b"`:                     {Scope: `a"b`},
		`Bearer scope="a", DPoP algs="ES256"`:     {Scope: "a"},
		`Bearer scope="open`:                      {Scope: "open"},
		`Bearer`:                                  {},
		`Bearer error = "invalid_token" ,scope=b`: {Scope: "b", Error: "invalid_token"},
	} {
		if got := ParseChallenge(http.Header{"Www-Authenticate": {in}}); got != want {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestMetadataURLs(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.invalid":      "https://a.invalid/.well-known/oauth-authorization-server https://a.invalid/.well-known/openid-configuration",
		"https://a.invalid/t/u/": "https://a.invalid/.well-known/oauth-authorization-server/t/u https://a.invalid/.well-known/openid-configuration/t/u https://a.invalid/t/u/.well-known/openid-configuration",
	} {
		if got := strings.Join(metadataURLs(in), " "); got != want {
			t.Error(got)
		}
	}
	for in, want := range map[string]bool{"https://a/mcp": true, "https://a": true, "https://a/m": false, "https://b/mcp": false, "http://a/mcp": false, "https://A/mcp/": true, "https://a/mcp/x": false} {
		if covers(in, "https://a/mcp") != want {
			t.Error(in)
		}
	}
}
