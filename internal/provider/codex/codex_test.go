package codex_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider"
	"magicode/internal/provider/codex"
	"magicode/internal/provider/exchange"

	"github.com/google/go-cmp/cmp"
)

const done = "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n"

const expired = `{"detail":"Your ChatGPT session expired before this request finished."}`

type answer struct {
	status int
	body   string
	header http.Header
}

// server answers from a script.
type server struct {
	mu     sync.Mutex
	script []answer
	seen   []*http.Request
	bodies []string
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.bodies = append(s.seen, req), append(s.bodies, string(body))
	if len(s.script) == 0 {
		return nil, errors.New("no answer left")
	}
	a := s.script[0]
	s.script = s.script[1:]
	if a.header == nil {
		a.header = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// logins is a store in memory.
type logins struct {
	rec    auth.Record
	next   []auth.Record
	forced int
	err    error
}

func (l *logins) Refresh(_ context.Context, id string, force bool, _ auth.Exchange) (auth.Record, error) {
	if id != "openai-codex" {
		return auth.Record{}, errors.New("other provider")
	}
	if l.err != nil {
		return auth.Record{}, l.err
	}
	if force {
		l.forced++
		if len(l.next) == 0 {
			return auth.Record{}, auth.ErrLoginNeeded
		}
		l.rec, l.next = l.next[0], l.next[1:]
	}
	return l.rec, nil
}

func login(access, account string) auth.Record {
	return auth.Record{Kind: auth.KindOAuth, Access: auth.Secret(access), AccountID: &account}
}

func newProvider(t *testing.T, s *server, l *logins, c codex.Config) *codex.Provider {
	t.Helper()
	c.Store = l
	p, err := codex.New(t.Context(), c, &exchange.Engine{HTTP: s, Limits: exchange.NewLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ignore(provider.Event) error { return nil }

func TestRequest(t *testing.T) {
	s := &server{script: []answer{{status: 200, body: done}}}
	p := newProvider(t, s, &logins{rec: login("tok", "acct_1")}, codex.Config{ServiceTier: "priority"})
	req := provider.Request{Model: "luna", ConversationID: "conv", PromptCacheKey: "key", Levels: 4, Level: provider.LevelLow,
		Tools: []provider.ToolDef{{Name: "read", Description: "d"}}, Items: []provider.Item{{Kind: provider.ItemMessage, Role: "user", Text: "q"}}}
	if err := p.Stream(t.Context(), req, ignore); err != nil {
		t.Fatal(err)
	}
	if u := s.seen[0].URL.String(); u != "https://chatgpt.com/backend-api/codex/responses" {
		t.Errorf("URL %s", u)
	}
	want := http.Header{
		"Accept": {"text/event-stream"}, "Authorization": {"Bearer tok"}, "Chatgpt-Account-Id": {"acct_1"}, "Content-Type": {"application/json"},
		"Openai-Beta": {"responses=experimental"}, "Originator": {"codex_cli_rs"}, "Session-Id": {"conv"}, "Thread-Id": {"conv"}, "User-Agent": {"codex_cli_rs/0.159.0"},
		"X-Codex-Routing-Hint": {"model=gpt-5.6-luna;tier=priority"}, "Idempotency-Key": nil,
	}
	if diff := cmp.Diff(want, s.seen[0].Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	body := `{"include":["reasoning.encrypted_content"],"input":[{"content":"q","role":"user"}],"instructions":"","model":"gpt-5.6-luna","parallel_tool_calls":true,"prompt_cache_key":"key",` +
		`"reasoning":{"effort":"low","summary":"detailed"},"service_tier":"priority","store":false,"stream":true,"text":{"verbosity":"low"},"tool_choice":"auto",` +
		`"tools":[{"description":"d","name":"read","parameters":{"type":"object"},"type":"function"}]}`
	if diff := cmp.Diff(body, s.bodies[0]); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestModelNames(t *testing.T) {
	for in, want := range map[string]string{"luna": "gpt-5.6-luna", "terra": "gpt-5.6-terra", "sol": "gpt-5.6-sol", "gpt-5.6": "gpt-5.6-sol", "gpt-5.5": "gpt-5.5"} {
		s := &server{script: []answer{{status: 200, body: done}}}
		if err := newProvider(t, s, &logins{rec: login("t", "a")}, codex.Config{}).Stream(t.Context(), provider.Request{Model: in}, ignore); err != nil {
			t.Fatal(err)
		}
		var got struct{ Model string }
		if err := json.Unmarshal([]byte(s.bodies[0]), &got); err != nil || got.Model != want {
			t.Errorf("%s: %q, error %v", in, got.Model, err)
		}
	}
}

func TestHeaderValuesThatAreLeftOut(t *testing.T) {
	s := &server{script: []answer{{status: 200, body: done}, {status: 200, body: done}}}
	p := newProvider(t, s, &logins{rec: login("t", "a")}, codex.Config{})
	for _, id := range []string{strings.Repeat("x", 257), "line\nbreak"} {
		if err := p.Stream(t.Context(), provider.Request{Model: "mödel", ConversationID: id}, ignore); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.seen {
		for _, name := range []string{"Session-Id", "Thread-Id", "X-Codex-Routing-Hint"} {
			if v, ok := r.Header[name]; ok {
				t.Errorf("%s: %q", name, v)
			}
		}
	}
}

func TestTurnState(t *testing.T) {
	state := func(v string) http.Header { return http.Header{"X-Codex-Turn-State": {v}} }
	s := &server{}
	l := &logins{rec: login("t1", "a")}
	p := newProvider(t, s, l, codex.Config{})
	send := func(model, session, answerState string) string {
		t.Helper()
		s.script = []answer{{status: 200, body: done, header: state(answerState)}}
		if err := p.Stream(t.Context(), provider.Request{Model: model, ConversationID: session}, ignore); err != nil {
			t.Fatal(err)
		}
		return s.seen[len(s.seen)-1].Header.Get("X-Codex-Turn-State")
	}
	for i, c := range []struct{ model, session, answer, sent string }{
		{"m", "s", " ", ""},
		{"m", "s", strings.Repeat("x", 4097), ""},
		{"m", "s", "bad\x7f", ""},
		{"m", "s", "one", ""},
		{"m", "s", "two", "one"},
		{"m", "s", "", "one"},
		{"other", "s", "three", ""},
		{"other", "s2", "", ""},
		{"other", "s", "", "three"},
	} {
		if got := send(c.model, c.session, c.answer); got != c.sent {
			t.Errorf("request %d sent %q, want %q", i, got, c.sent)
		}
	}
}

// TestExpiryInMidTurn: one renewal, the attempts go on counting, the state of
// the turn stays.
func TestExpiryInMidTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{script: []answer{
			{status: 500, body: "x", header: http.Header{"X-Codex-Turn-State": {"st"}}},
			{status: 401, body: expired}, {status: 200, body: done}}}
		l := &logins{rec: login("old", "a"), next: []auth.Record{login("new", "a")}}
		p := newProvider(t, s, l, codex.Config{})
		var attempts []int
		err := p.Stream(t.Context(), provider.Request{Model: "m", ConversationID: "s"}, func(ev provider.Event) error {
			if ev.Kind == provider.EventIdentity {
				if ev.Identity.Provider != "openai-codex" {
					t.Errorf("identity %+v", ev.Identity)
				}
				attempts = append(attempts, ev.Identity.Attempt)
			}
			return nil
		})
		if err != nil || l.forced != 1 {
			t.Errorf("error %v, %d renewals", err, l.forced)
		}
		if diff := cmp.Diff([]int{1, 2, 3}, attempts); diff != "" {
			t.Error(diff)
		}
		last := s.seen[2].Header
		if last.Get("Authorization") != "Bearer new" || last.Get("X-Codex-Turn-State") != "st" {
			t.Errorf("headers %v", last)
		}
		if s.bodies[0] != s.bodies[2] {
			t.Error("the body changed")
		}
	})
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name     string
		script   []answer
		next     []auth.Record
		requests int
		forced   int
		has      string
	}{
		{"another 401", []answer{{status: 401, body: "no"}}, nil, 1, 0, "401"},
		{"expired twice", []answer{{status: 401, body: expired}, {status: 401, body: expired}}, []auth.Record{login("n", "a"), login("o", "a")}, 2, 1, "401"},
		{"renewal fails", []answer{{status: 401, body: expired}}, nil, 1, 1, "log in again"},
		{"the words in another status", []answer{{status: 403, body: expired}}, []auth.Record{login("n", "a")}, 1, 0, "403"},
	} {
		s := &server{script: c.script}
		l := &logins{rec: login("secret-access-token", "a"), next: c.next}
		err := newProvider(t, s, l, codex.Config{}).Stream(t.Context(), provider.Request{Model: "m"}, ignore)
		var perr *provider.Error
		if !errors.As(err, &perr) || !strings.Contains(err.Error(), c.has) || len(s.seen) != c.requests || l.forced != c.forced {
			t.Errorf("%s: error %v, %d requests, %d renewals", c.name, err, len(s.seen), l.forced)
		}
		if strings.Contains(err.Error(), "secret-access-token") {
			t.Errorf("%s: the error shows the token", c.name)
		}
	}
}

func TestNoAccount(t *testing.T) {
	jwt := func(claims string) string {
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
	}
	if _, err := codex.New(t.Context(), codex.Config{Store: &logins{rec: auth.Record{Kind: auth.KindOAuth, Access: "opaque"}}}, nil); err == nil {
		t.Error("a login without an account was accepted")
	}
	s := &server{script: []answer{{status: 200, body: done}}}
	p := newProvider(t, s, &logins{rec: auth.Record{Kind: auth.KindOAuth, Access: auth.Secret(jwt(`{"chatgpt_account_id":"from-token"}`))}}, codex.Config{})
	if err := p.Stream(t.Context(), provider.Request{Model: "m"}, ignore); err != nil || s.seen[0].Header.Get("Chatgpt-Account-Id") != "from-token" {
		t.Errorf("headers %v, error %v", s.seen[0].Header, err)
	}
	for claims, want := range map[string]string{
		`{"https://api.openai.com/auth.chatgpt_account_id":"flat"}`:       "flat",
		`{"https://api.openai.com/auth":{"chatgpt_account_id":"nested"}}`: "nested",
		`{"accountId":"plain"}`: "plain",
		`{"sub":"x"}`:           "",
		`not json`:              "",
	} {
		if got := codex.AccountID(jwt(claims)); got != want {
			t.Errorf("%s: %q", claims, got)
		}
	}
	for _, bad := range []string{"", "a.b", "a.!.c", "a.b.c.d"} {
		if got := codex.AccountID(bad); got != "" {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func TestExchange(t *testing.T) {
	now := func() time.Time { return time.Unix(1000, 0) }
	str := func(s string) *string { return &s }
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   *auth.Record
	}{
		{"all", 200, `{"access_token":"a","refresh_token":"r2","expires_in":60,"accountId":"acct"}`, &auth.Record{Kind: auth.KindOAuth, Access: "a", Refresh: (*auth.Secret)(str("r2")), Expires: ptr(1060), AccountID: str("acct")}},
		{"the least", 200, `{"access_token":"a","account_id":"acct","refresh_token":""}`, &auth.Record{Kind: auth.KindOAuth, Access: "a", AccountID: str("acct")}},
		{"null expiry", 201, `{"access_token":"a","account_id":"acct","expires_in":null}`, &auth.Record{Kind: auth.KindOAuth, Access: "a", AccountID: str("acct")}},
		{"no access token", 200, `{"account_id":"acct"}`, nil},
		{"empty access token", 200, `{"access_token":"","account_id":"acct"}`, nil},
		{"no account", 200, `{"access_token":"a"}`, nil},
		{"overflow", 200, `{"access_token":"a","account_id":"acct","expires_in":9223372036854775807}`, nil},
		{"no integer", 200, `{"access_token":"a","account_id":"acct","expires_in":"60"}`, nil},
		{"no JSON", 200, `<html>`, nil},
		{"refused", 400, `{"error":"invalid_grant SECRET-DETAIL"}`, nil},
		{"redirected", 302, ``, nil},
		{"too large", 200, `{"access_token":"` + strings.Repeat("x", 2<<20) + `","account_id":"acct"}`, nil},
	} {
		s := &server{script: []answer{{status: c.status, body: c.body}}}
		got, err := (&codex.TokenClient{HTTP: s, Now: now}).Exchange(t.Context(), "r&1")
		if (err == nil) != (c.want != nil) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "SECRET-DETAIL") || strings.Contains(err.Error(), "r&1")) {
			t.Errorf("%s: the error tells too much: %v", c.name, err)
		}
		if c.want != nil && !got.Equal(*c.want) {
			t.Errorf("%s: record %+v", c.name, got)
		}
		if s.bodies[0] != "client_id=app_EMoamEEZ73f0CkXaXp7hrann&grant_type=refresh_token&refresh_token=r%261" || s.seen[0].URL.String() != "https://auth.openai.com/oauth/token" ||
			s.seen[0].Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s: sent %q to %s", c.name, s.bodies[0], s.seen[0].URL)
		}
	}
}

func ptr(n int64) *int64 { return &n }
