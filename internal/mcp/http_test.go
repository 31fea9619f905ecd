package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/tool"
)

// remoteServer is a Streamable HTTP server. Its answers are played by the tool's name.
type remoteServer struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	session  int
	requests []string // METHOD rpc-method session version last-event
	push     chan string
	bodies   chan string // of replies to our own requests
	noGET    bool
	deny     func(r *http.Request) (int, http.Header)
	resumed  atomic.Value  // the id of the call to resume
	gone     chan struct{} // closed when a hanging call's client went away
}

func newRemoteServer(t *testing.T) *remoteServer {
	s := &remoteServer{t: t, push: make(chan string, 4), bodies: make(chan string, 4), gone: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *remoteServer) conf() config.MCPServer {
	return config.MCPServer{Name: "web", Timeout: 5 * time.Second,
		HTTP: &config.HTTPServer{URL: s.URL + "/mcp?key=abcdefgh12345678", Headers: map[string]string{"X-Own": "mine"}}}
}

func (s *remoteServer) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// sees waits until a request that holds sub has come.
func (s *remoteServer) sees(sub string) {
	s.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for !strings.Contains(strings.Join(s.seen(), "\n"), sub) {
		if time.Now().After(deadline) {
			s.t.Fatalf("no request %q in %q", sub, s.seen())
		}
		time.Sleep(2 * time.Millisecond) // another machine has no event to wait for
	}
}

func (s *remoteServer) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("s%d", s.session)
}

func (s *remoteServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m wire
	_ = json.Unmarshal(body, &m)
	h := r.Header
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", r.Method, m.Method, m.Params.Name, h.Get("Mcp-Session-Id"), h.Get("MCP-Protocol-Version"), h.Get("Last-Event-ID"))))
	s.mu.Unlock()
	s.mu.Lock()
	deny := s.deny
	s.mu.Unlock()
	if deny != nil {
		if code, header := deny(r); code != 0 {
			for k := range header {
				w.Header()[k] = header[k]
			}
			w.WriteHeader(code)
			return
		}
	}
	if h.Get("X-Own") != "mine" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if id := h.Get("Mcp-Session-Id"); m.Method != "initialize" && id != s.name() {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet:
		s.get(w, r)
	case http.MethodPost:
		s.post(w, r, m, string(body))
	}
}

func events200(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func (s *remoteServer) get(w http.ResponseWriter, r *http.Request) {
	switch last := r.Header.Get("Last-Event-ID"); {
	case last == "e1":
		events200(w, "id: e2\ndata: \n\n")
		return
	case last == "e2":
		events200(w, "id: e3\ndata: "+text(s.resumed.Load().(json.RawMessage), "resumed")+"\n\n")
		return
	case s.noGET:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	events200(w, ": hello\n\n")
	for {
		select {
		case msg := <-s.push:
			events200(w, "data: "+msg+"\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

func (s *remoteServer) post(w http.ResponseWriter, r *http.Request, m wire, body string) {
	w.Header().Set("Content-Type", "application/json")
	switch m.Method {
	case "":
		s.bodies <- body
		w.WriteHeader(http.StatusAccepted)
	case "initialize":
		s.mu.Lock()
		s.session++
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", s.name())
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}`, m.ID)
	case "tools/list":
		names := []string{}
		for _, n := range []string{"json", "events", "resume", "broken", "accepted", "hang", "big", "html", "redirect", "other", "e500"} {
			names = append(names, `{"name":"`+n+`","inputSchema":{"type":"object"}}`)
		}
		events200(w, fmt.Sprintf("event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\r\ndata: \"result\":{\"tools\":[%s]}}\r\n\r\n", m.ID, strings.Join(names, ",")))
	case "tools/call":
		s.call(w, r, m)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *remoteServer) call(w http.ResponseWriter, r *http.Request, m wire) {
	switch m.Params.Name {
	case "json":
		io.WriteString(w, text(m.ID, "plain"))
	case "events":
		events200(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\ndata: "+text(m.ID, "streamed")+"\n\n")
	case "resume":
		s.resumed.Store(m.ID)
		events200(w, "retry: 10\nid: e1\ndata: \n\n")
	case "broken":
		events200(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
	case "accepted":
		w.WriteHeader(http.StatusAccepted)
		s.push <- text(m.ID, "on the other stream")
	case "hang":
		events200(w, ": wait\n\n")
		<-r.Context().Done()
		close(s.gone)
	case "big":
		events200(w, "data: "+strings.Repeat("x", maxMessage+1)+"\n\n")
	case "html":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>")
	case "redirect":
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "other":
		io.WriteString(w, text(json.RawMessage("12345"), "not yours"))
	case "e500":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"broke on password=abcdefgh12345678"}}`, m.ID)
	}
}

func httpOptions(t *testing.T) Options {
	c := httpx.New(httpx.Options{})
	t.Cleanup(func() { c.Close() })
	o := options()
	o.HTTP = c
	return o
}

func TestHTTPCalls(t *testing.T) {
	s := newRemoteServer(t)
	m := connect(t, httpOptions(t), s.conf())
	for name, want := range map[string]string{
		"json": "plain", "events": "streamed", "resume": "resumed", "accepted": "on the other stream",
		"broken":   "MCP server web: the answer's event stream ended before the answer came",
		"big":      "MCP server web: an event has more than 1048576 bytes",
		"html":     "MCP server web: protocol error: the answer is neither JSON nor an event stream",
		"redirect": "MCP server web: the server redirects, which is not followed",
		"other":    "MCP server web: protocol error: the answer is for another request",
		"e500":     "MCP server web: the server answered with HTTP status 500: broke on password=<redacted>",
	} {
		if got := run(t, m, "mcp__web__"+name, `{}`); got.Content != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := <-s.bodies; got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
		t.Errorf("answer to the ping: %s", got)
	}
	s.push <- `{"jsonrpc":"2.0","id":3,"method":"roots/list"}`
	if got := <-s.bodies; !strings.Contains(got, `"id":3,"error":{"code":-32601`) {
		t.Errorf("answer to roots/list: %s", got)
	}
	seen := s.seen()
	if seen[0] != "POST initialize" || seen[1] != "POST notifications/initialized  s1 2025-06-18" {
		t.Errorf("%q", seen[:2])
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	seen = s.seen()
	if last := seen[len(seen)-1]; last != "DELETE   s1 2025-06-18" {
		t.Errorf("last request %q", last)
	}
}

// TestHTTPCancel: the POST ends at once and the server is told.
func TestHTTPCancel(t *testing.T) {
	s := newRemoteServer(t)
	m := connect(t, httpOptions(t), s.conf())
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan tool.Result)
	go func() { got <- find(t, m, "mcp__web__hang").Run(ctx, tool.Env{}, json.RawMessage(`{}`)) }()
	s.sees("tools/call hang")
	cancel()
	if r := <-got; r.Content != tool.CancelledText {
		t.Errorf("%+v", r)
	}
	<-s.gone
	s.sees("notifications/cancelled")
	if r := run(t, m, "mcp__web__json", `{}`); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestLostSession: calls that find their session gone make one new session
// together and are sent again.
func TestLostSession(t *testing.T) {
	s := newRemoteServer(t)
	m := connect(t, httpOptions(t), s.conf())
	s.mu.Lock()
	s.session = 40
	s.mu.Unlock()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r := run(t, m, "mcp__web__json", `{}`); !r.Success {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, r := range s.seen() {
		if r == "POST initialize" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d sessions were begun", n)
	}
}

// TestHTTPStopsInTime: a server that answers nothing any more, DELETE included.
func TestHTTPStopsInTime(t *testing.T) {
	s := newRemoteServer(t)
	s.noGET = true
	m := connect(t, httpOptions(t), s.conf())
	s.mu.Lock()
	s.deny = func(r *http.Request) (int, http.Header) {
		<-r.Context().Done()
		return 0, nil
	}
	s.mu.Unlock()
	got := make(chan tool.Result)
	go func() { got <- run(t, m, "mcp__web__json", `{}`) }()
	s.sees("tools/call json")
	began := time.Now()
	err := m.Close()
	if took := time.Since(began); err != nil || took < deleteWait-50*time.Millisecond || took > deleteWait+300*time.Millisecond {
		t.Errorf("after %v: %v", took, err)
	}
	if r := <-got; r.Content != "MCP server web: the connection is closed" {
		t.Errorf("%+v", r)
	}
}

func TestHTTPFailures(t *testing.T) {
	s := newRemoteServer(t)
	s.Close()
	_, err := Connect(context.Background(), httpOptions(t), []config.MCPServer{s.conf()})
	var e *Error
	if !errors.As(err, &e) || e.Phase != PhaseInitialize || strings.Contains(e.Reason, "key=") || !strings.Contains(e.Reason, "/mcp cannot be reached: ") {
		t.Errorf("%v", err)
	}
	for code, want := range map[int]string{401: "login needed: the server asks for authorization", 404: "the server answered with HTTP status 404", 302: "the server redirects, which is not followed"} {
		s := newRemoteServer(t)
		s.deny = func(*http.Request) (int, http.Header) { return code, nil }
		_, err := Connect(context.Background(), httpOptions(t), []config.MCPServer{s.conf()})
		if !errors.As(err, &e) || e.Reason != want {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// authorizer gives one token after the other.
type authorizer struct {
	tokens  []string
	refused []string
}

func (a *authorizer) Token(_ context.Context, refused string) (string, error) {
	if refused != "" {
		a.refused = append(a.refused, refused)
		if len(a.tokens) == 1 {
			return "", fmt.Errorf("%w: no more", ErrLoginNeeded)
		}
		a.tokens = a.tokens[1:]
	}
	return a.tokens[0], nil
}

func TestHTTPAuthorization(t *testing.T) {
	for _, c := range []struct {
		tokens []string
		header string
		want   string
	}{
		{tokens: []string{"old", "good"}},
		{tokens: []string{"old"}, want: "login needed: no more"},
		{tokens: []string{"old", "worse"}, want: "login needed: the server asks for authorization"},
		{tokens: []string{"narrow"}, want: "login needed: the login does not cover this, which needs: more a:b"},
	} {
		s := newRemoteServer(t)
		s.noGET = true
		s.deny = func(r *http.Request) (int, http.Header) {
			switch r.Header.Get("Authorization") {
			case "Bearer good":
				return 0, nil
			case "Bearer narrow":
				return 403, http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="more a:b $(x)"`}}
			}
			return 401, nil
		}
		conf := s.conf()
		conf.HTTP.OAuth = new(config.MCPOAuth)
		a := &authorizer{tokens: c.tokens}
		o := httpOptions(t)
		o.Auth = func(config.MCPServer) Authorizer { return a }
		m, err := Connect(context.Background(), o, []config.MCPServer{conf})
		var e *Error
		if c.want == "" && err == nil {
			_ = m.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Reason != c.want || !errors.Is(err, ErrLoginNeeded)) {
			t.Errorf("%q: %v", c.tokens, err)
		}
	}
}

// TestEvents reads streams that are cut into reads of any length.
func TestEvents(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"data: a\n\n", "|a"},
		{"data:a\r\ndata: b\r\n\r\n", "|a\nb"},
		{"id: 1\rdata: x\r\r", "1|x"},
		{"id: 7\ndata:\n\nid: 8\ndata: y\n\n", "7|,8|y"},
		{": comment\nevent: z\nretry: 25\n\ndata: a\n\n", "|a"},
		{"data: cut", ""},
		{"id: a\x00b\ndata: q\n\n", "|q"},
		{"\n\n\ndata\n\n", "|"},
	} {
		for size := 1; size <= len(c.in); size++ {
			e := &events{src: bufio.NewReaderSize(iotestReader(c.in, size), 16)}
			var got []string
			for {
				ev, err := e.next()
				if err != nil {
					break
				}
				got = append(got, ev.id+"|"+string(ev.data))
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("%q by %d: %q", c.in, size, got)
			}
		}
	}
}

type pieces struct {
	rest string
	n    int
}

func iotestReader(s string, n int) io.Reader { return &pieces{s, n} }

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}
