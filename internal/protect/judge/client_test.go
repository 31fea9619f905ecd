package judge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/httpx"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var asked = map[string]Question{
	"risk": {Kind: Score, Instructions: "how risky?", Levels: []string{"none", "some", "much"}},
	"yes":  {Kind: Noul, Instructions: "is it so?"},
	"kind": {Kind: Choice, Instructions: "which?", Criteria: map[string]string{"a": "first", "b": "second"}},
}

const good = `{"model":"jev-1.13.0","answers":{"risk":{"type":"score","score":1.5,"confidence":0.8,"legend":{"0":"none"},"probabilities":{"0":0.1,"1":0.3,"2":0.6}},` +
	`"yes":{"type":"noul","noul":0.25},"kind":{"type":"choice","choice":"b","confidence":1,"probabilities":{"a":0,"b":1}}},"usage":{"input_tokens":5}}`

// reply is one scripted answer of the fake service; it may hang.
type reply struct {
	status int
	header string // Retry-After or Location
	body   string
	wait   time.Duration
	err    error
}

// fake is the service without a network.
type fake struct {
	mu      sync.Mutex
	replies []reply
	bodies  []string
	at      []time.Time
	headers []http.Header
}

func (f *fake) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	f.mu.Lock()
	n := min(len(f.bodies), len(f.replies)-1)
	f.bodies, f.at, f.headers = append(f.bodies, string(body)), append(f.at, time.Now()), append(f.headers, req.Header)
	r := f.replies[n]
	f.mu.Unlock()
	select {
	case <-time.After(r.wait):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	h := http.Header{}
	if r.header != "" {
		name, value, _ := strings.Cut(r.header, "=")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: r.status, Header: h, Body: io.NopCloser(strings.NewReader(r.body))}, nil
}

func TestAnswers(t *testing.T) {
	f := &fake{replies: []reply{{status: 200, body: good}}}
	c := &Client{HTTP: f, Key: "k"}
	got, err := c.Ask(t.Context(), map[string]string{"command": "ls <x>"}, asked)
	if err != nil {
		t.Fatal(err)
	}
	want := Answers{Model: "jev-1.13.0", Of: map[string]Answer{
		"risk": {Score: 1.5, Confidence: 0.8, Probabilities: map[string]float64{"0": 0.1, "1": 0.3, "2": 0.6}},
		"yes":  {Noul: 0.25}, "kind": {Choice: "b", Confidence: 1, Probabilities: map[string]float64{"a": 0, "b": 1}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	body := `{"state":{"command":"ls <x>"},"model":"jev-1.13.0","questions":{"kind":{"type":"choice","instructions":"which?","criteria":{"a":"first","b":"second"}},` +
		`"risk":{"type":"score","instructions":"how risky?","criteria":["none","some","much"]},"yes":{"type":"noul","instructions":"is it so?"}}}`
	if diff := cmp.Diff(body, f.bodies[0]); diff != "" {
		t.Error(diff)
	}
	if h := f.headers[0]; h.Get("Authorization") != "Bearer k" || h.Get("Content-Type") != "application/json" {
		t.Errorf("%v", h)
	}
}

// TestFailures: what the service may do, the word for it, how often it is asked
// and when.
func TestFailures(t *testing.T) {
	swap := func(old, with string) []reply {
		if !strings.Contains(good, old) {
			t.Fatal(old)
		}
		return []reply{{status: 200, body: strings.Replace(good, old, with, 1)}}
	}
	for name, c := range map[string]struct {
		replies []reply
		reason  Reason // "" is none
		asks    int
		after   time.Duration
	}{
		"429, then fine":           {[]reply{{status: 429}, {status: 200, body: good}}, "", 2, 100 * time.Millisecond},
		"429 twice":                {[]reply{{status: 429}}, RateLimited, 2, 100 * time.Millisecond},
		"429 with a wait":          {[]reply{{status: 429, header: "Retry-After=3"}, {status: 200, body: good}}, "", 2, 3 * time.Second},
		"429 with a long wait":     {[]reply{{status: 429, header: "Retry-After=60"}}, RateLimited, 1, 0},
		"429 with a mad wait":      {[]reply{{status: 429, header: "Retry-After=99999999999999999999"}, {status: 200, body: good}}, "", 2, 100 * time.Millisecond},
		"408, then fine":           {[]reply{{status: 408}, {status: 200, body: good}}, "", 2, 100 * time.Millisecond},
		"503, then 401":            {[]reply{{status: 503}, {status: 401}}, Refused, 2, 100 * time.Millisecond},
		"500 twice":                {[]reply{{status: 500}}, Rejected, 2, 100 * time.Millisecond},
		"401":                      {[]reply{{status: 401}}, Refused, 1, 0},
		"403":                      {[]reply{{status: 403}}, Refused, 1, 0},
		"400":                      {[]reply{{status: 400}}, Rejected, 1, 0},
		"a redirect":               {[]reply{{status: 302, header: "Location=https://elsewhere.test/"}}, Rejected, 1, 0},
		"204":                      {[]reply{{status: 204}}, Rejected, 1, 0},
		"hangs":                    {[]reply{{wait: time.Hour}}, TimedOut, 1, 15 * time.Second},
		"hangs the second time":    {[]reply{{status: 500, wait: 10 * time.Second}, {wait: time.Hour}}, TimedOut, 2, 15 * time.Second},
		"a late 500":               {[]reply{{status: 500, wait: 14950 * time.Millisecond}}, Rejected, 1, 14950 * time.Millisecond},
		"no connection":            {[]reply{{err: errors.New("dial 10.0.0.1: secret")}}, Unreachable, 1, 0},
		"no JSON":                  {[]reply{{status: 200, body: "<html>"}}, Malformed, 1, 0},
		"nothing":                  {[]reply{{status: 200}}, Malformed, 1, 0},
		"an array":                 {[]reply{{status: 200, body: "[]"}}, Malformed, 1, 0},
		"no answers":               {[]reply{{status: 200, body: `{"model":"x"}`}}, Malformed, 1, 0},
		"answers is a list":        {[]reply{{status: 200, body: `{"answers":[]}`}}, Malformed, 1, 0},
		"cut off":                  {[]reply{{status: 200, body: good[:len(good)-3]}}, Malformed, 1, 0},
		"too large":                {[]reply{{status: 200, body: good + strings.Repeat(" ", maxAnswerBytes)}}, Malformed, 1, 0},
		"one answer missing":       {swap(`"yes":`, `"no":`), Incomplete, 1, 0},
		"another type":             {swap(`"type":"noul"`, `"type":"score"`), Incomplete, 1, 0},
		"a score above":            {swap(`"score":1.5`, `"score":2.01`), Incomplete, 1, 0},
		"a score below":            {swap(`"score":1.5`, `"score":-0.1`), Incomplete, 1, 0},
		"a score as text":          {swap(`"score":1.5`, `"score":"1.5"`), Incomplete, 1, 0},
		"a huge score":             {swap(`"score":1.5`, `"score":1e999`), Incomplete, 1, 0},
		"no confidence":            {swap(`"confidence":0.8`, `"certain":0.8`), Incomplete, 1, 0},
		"a confidence above":       {swap(`"confidence":0.8`, `"confidence":1.5`), Incomplete, 1, 0},
		"a null":                   {swap(`"noul":0.25`, `"noul":null`), Incomplete, 1, 0},
		"an unknown choice":        {swap(`"choice":"b"`, `"choice":"c"`), Incomplete, 1, 0},
		"a probability above":      {swap(`"2":0.6`, `"2":6`), Incomplete, 1, 0},
		"probabilities as a list":  {swap(`{"0":0.1,"1":0.3,"2":0.6}`, `[0.1,0.3,0.6]`), Incomplete, 1, 0},
		"no probabilities is fine": {swap(`"probabilities":{"0":0.1,"1":0.3,"2":0.6}`, `"more":{}`), "", 1, 0},
		"no types are fine":        {swap(`"type":"noul",`, ``), "", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: c.replies}
				began := time.Now()
				got, err := (&Client{HTTP: f, Key: "k"}).Ask(t.Context(), "state", asked)
				if ReasonOf(err) != c.reason || (err == nil) != (c.reason == "") || (err == nil) != (len(got.Of) == 3) {
					t.Errorf("%v %v", got, err)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("tells too much: %v", err)
				}
				if len(f.bodies) != c.asks || time.Since(began) != c.after {
					t.Errorf("%d requests in %v", len(f.bodies), time.Since(began))
				}
			})
		})
	}
}

// TestCancellation: the end of the run's context is the error, in any phase.
func TestCancellation(t *testing.T) {
	for name, replies := range map[string][]reply{
		"while it answers":    {{wait: time.Hour}},
		"between attempts":    {{status: 429, header: "Retry-After=10"}},
		"in the second":       {{status: 500}, {wait: time.Hour}},
		"while the body runs": {{status: 200, body: "{", wait: 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := errors.New("stop")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(stop) })
				began := time.Now()
				_, err := (&Client{HTTP: &fake{replies: replies}}).Ask(ctx, "s", asked)
				if !errors.Is(err, stop) || time.Since(began) != time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// TestRequestBounds: what is too large is never sent.
func TestRequestBounds(t *testing.T) {
	long := map[string]Question{"q": {Kind: Noul, Instructions: strings.Repeat("x", maxInstructions+1)}}
	for name, c := range map[string]struct {
		state     any
		questions map[string]Question
	}{
		"state":        {strings.Repeat("x", maxRequestBytes), asked},
		"instructions": {"s", long},
		"one level":    {"s", map[string]Question{"q": {Kind: Score, Levels: []string{"a"}}}},
		"many levels":  {"s", map[string]Question{"q": {Kind: Score, Levels: make([]string, 11)}}},
		"no criteria":  {"s", map[string]Question{"q": {Kind: Choice}}},
		"no kind":      {"s", map[string]Question{"q": {}}},
		"no JSON":      {func() {}, asked},
	} {
		f := &fake{replies: []reply{{status: 200, body: good}}}
		_, err := (&Client{HTTP: f}).Ask(t.Context(), c.state, c.questions)
		if ReasonOf(err) != TooLarge || len(f.bodies) != 0 {
			t.Errorf("%s: %v, %d requests", name, err, len(f.bodies))
		}
	}
}

// TestCache: an equal request is answered from its file; what is no good is
// asked again; a cache that cannot be written costs nothing.
func TestCache(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("/home/cache", 0o700); err != nil {
		t.Fatal(err)
	}
	f := &fake{replies: []reply{{status: 200, body: good}}}
	c := &Client{HTTP: f, Cache: &Cache{FS: fsys, Dir: "/home/cache/jev"}}
	first, err := c.Ask(t.Context(), "s", asked)
	if err != nil || first.Cached {
		t.Fatal(first, err)
	}
	second, err := c.Ask(t.Context(), "s", asked)
	if err != nil || !second.Cached || len(f.bodies) != 1 {
		t.Errorf("%+v %v, %d requests", second, err, len(f.bodies))
	}
	second.Cached = false
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	name := c.Cache.name([]byte(f.bodies[0]))
	if info, err := fsys.Stat(name); err != nil || info.Mode.Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := c.Ask(t.Context(), "other", asked); err != nil || len(f.bodies) != 2 {
		t.Errorf("%v, %d requests", err, len(f.bodies))
	}
	if err := vfs.Replace(fsys, name, []byte(`{"answers":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Ask(t.Context(), "s", asked); err != nil || again.Cached || len(f.bodies) != 3 {
		t.Errorf("%+v %v, %d requests", again, err, len(f.bodies))
	}
	if err := fsys.MkdirAll(filepath.Join("/file"), 0o500); err != nil {
		t.Fatal(err)
	}
	c.Cache = &Cache{FS: fsys, Dir: name} // a file: no folder can be made there
	if got, err := c.Ask(t.Context(), "s", asked); err != nil || got.Cached {
		t.Errorf("%+v %v", got, err)
	}
}

// TestOverHTTP: the real client against a real server, which redirects the
// second time: nothing follows, and the key stays where it was meant for.
func TestOverHTTP(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed a redirect with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost {
			t.Error(err, r.Method)
		}
		mu.Lock()
		keys = append(keys, r.Header.Get("Authorization"))
		again := len(keys) > 1
		mu.Unlock()
		if again {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, good)
	}))
	defer server.Close()
	client := httpx.New(httpx.Options{})
	defer client.Close()
	c := &Client{HTTP: client, Key: "k", url: server.URL}
	if _, err := c.Ask(t.Context(), "s", asked); err != nil {
		t.Error(err)
	}
	if _, err := c.Ask(t.Context(), "s", asked); ReasonOf(err) != Rejected {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(keys) != 2 || keys[0] != "Bearer k" {
		t.Errorf("%q", keys)
	}
}
