package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/httpx"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/openai"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server with a script: one function a request.
type fixture struct {
	*httptest.Server
	mu     sync.Mutex
	script []http.HandlerFunc
	bodies []string
	paths  []string
	header []http.Header
}

func newFixture(t *testing.T, script ...http.HandlerFunc) *fixture {
	t.Helper()
	f := &fixture{script: script}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.bodies, f.paths, f.header = append(f.bodies, string(body)), append(f.paths, r.URL.Path), append(f.header, r.Header.Clone())
	serve := http.NotFound
	if len(f.script) > 0 {
		serve, f.script = f.script[0], f.script[1:]
	}
	f.mu.Unlock()
	serve(w, r)
}

func stream(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Request-Id", "req_1")
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

func newProvider(t *testing.T, c openai.Config) *openai.Provider {
	t.Helper()
	client := httpx.New(httpx.Options{})
	t.Cleanup(func() { _ = client.Close() })
	p, err := openai.New(c, &exchange.Engine{HTTP: client, Limits: exchange.NewLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func collect(t *testing.T, p provider.Provider, req provider.Request) (string, []provider.Event, error) {
	t.Helper()
	var text strings.Builder
	var events []provider.Event
	err := p.Stream(t.Context(), req, func(ev provider.Event) error {
		events = append(events, ev)
		if ev.Kind == provider.EventText {
			text.WriteString(ev.Text)
		}
		return nil
	})
	return text.String(), events, err
}

const (
	chatText = "data: {\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello there.\"}}]}\n\n"
	chatEnd  = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	respText = "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"Hello there.\"}\n\n"
	respEnd  = "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"m1\",\"output\":[]}}\n\n"
)

func TestWires(t *testing.T) {
	for _, c := range []struct {
		name   string
		chat   bool
		path   string
		pieces []string
		kinds  []provider.EventKind
	}{
		{"responses", false, "/v1/responses", []string{respText, respEnd}, []provider.EventKind{provider.EventText, provider.EventIdentity}},
		{"chat", true, "/v1/chat/completions", []string{chatText, chatEnd}, []provider.EventKind{provider.EventText, provider.EventIdentity}},
	} {
		f := newFixture(t, stream(c.pieces...))
		p := newProvider(t, openai.Config{BaseURL: f.URL + "/v1/", Key: "k1", Chat: c.chat, UserAgent: "magi-code/1.2.3", ConversationHeaders: []string{"X-Conversation"}, Conversation: "fallback"})
		text, events, err := collect(t, p, provider.Request{Model: "m1", ConversationID: "conv"})
		if err != nil || text != "Hello there." || f.paths[0] != c.path {
			t.Errorf("%s: %q at %v, error %v", c.name, text, f.paths, err)
		}
		var kinds []provider.EventKind
		for _, ev := range events {
			kinds = append(kinds, ev.Kind)
			if ev.Kind == provider.EventIdentity && (ev.Identity.ResponseModel != "m1" || (ev.Identity.Provider == "") != c.chat) {
				t.Errorf("%s: %+v", c.name, ev.Identity)
			}
		}
		if diff := cmp.Diff(c.kinds, kinds); diff != "" {
			t.Errorf("%s: kinds (-want +got):\n%s", c.name, diff)
		}
		want := http.Header{"Accept": {"text/event-stream"}, "Content-Type": {"application/json"}, "User-Agent": {"magi-code/1.2.3"}, "Authorization": {"Bearer k1"},
			"X-Conversation": {"conv"}, "Content-Length": f.header[0]["Content-Length"]}
		if diff := cmp.Diff(want, f.header[0]); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestHeadersWithoutKeyAndSession(t *testing.T) {
	f := newFixture(t, stream(chatText, chatEnd))
	p := newProvider(t, openai.Config{BaseURL: f.URL, Chat: true, UserAgent: "u", ConversationHeaders: []string{"X-C"}, Conversation: "magi-code-conversation-1"})
	if _, _, err := collect(t, p, provider.Request{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if h := f.header[0]; h.Get("Authorization") != "" || h.Get("X-C") != "magi-code-conversation-1" {
		t.Errorf("headers %v", h)
	}
}

func TestRedirectIsAnError(t *testing.T) {
	other := newFixture(t, stream(chatText, chatEnd))
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, _, err := collect(t, newProvider(t, openai.Config{BaseURL: f.URL, Chat: true, Key: "k"}), provider.Request{Model: "m"})
	var perr *provider.Error
	if !errors.As(err, &perr) || perr.Kind != provider.ErrHTTPStatus || perr.Status != 307 {
		t.Errorf("error %v", err)
	}
	if len(other.bodies) != 0 || len(f.bodies) != 1 {
		t.Errorf("%d requests elsewhere, %d here", len(other.bodies), len(f.bodies))
	}
}

// TestDeltasComeAsTheyAreSent: the first text is there while the stream is open.
func TestDeltasComeAsTheyAreSent(t *testing.T) {
	for _, chat := range []bool{true, false} {
		first, rest := respText, respEnd
		if chat {
			first, rest = chatText, chatEnd
		}
		seen := make(chan struct{})
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			stream(first)(w, r)
			select {
			case <-seen:
				_, _ = io.WriteString(w, rest)
			case <-time.After(10 * time.Second):
				t.Error("the first delta was held back")
			}
		})
		p := newProvider(t, openai.Config{BaseURL: f.URL, Chat: chat})
		once := sync.OnceFunc(func() { close(seen) })
		err := p.Stream(t.Context(), provider.Request{Model: "m1"}, func(ev provider.Event) error {
			if ev.Kind == provider.EventText {
				once()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEveryByteOnItsOwn: the network may cut anywhere, characters included.
func TestEveryByteOnItsOwn(t *testing.T) {
	text := "é文😀 done"
	whole := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}\r\n\r\n" + chatEnd
	var pieces []string
	for i := range len(whole) {
		pieces = append(pieces, whole[i:i+1])
	}
	f := newFixture(t, stream(pieces...))
	got, _, err := collect(t, newProvider(t, openai.Config{BaseURL: f.URL, Chat: true}), provider.Request{Model: "m"})
	if err != nil || got != text {
		t.Errorf("text %q, error %v", got, err)
	}
}

func TestCancelDuringTheStream(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		stream(chatText)(w, r)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	p := newProvider(t, openai.Config{BaseURL: f.URL, Chat: true})
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	start := time.Now()
	err := p.Stream(ctx, provider.Request{Model: "m"}, func(ev provider.Event) error {
		if ev.Kind == provider.EventText {
			time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
		}
		return nil
	})
	if !errors.Is(err, cause) || time.Since(start) > 2*time.Second {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
}

// TestCutConnection: a body that breaks off in the middle keeps its text.
func TestCutConnection(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		stream(respText)(w, r)
		panic(http.ErrAbortHandler)
	})
	text, _, err := collect(t, newProvider(t, openai.Config{BaseURL: f.URL}), provider.Request{Model: "m1"})
	var perr *provider.Error
	if !errors.As(err, &perr) || perr.Kind != provider.ErrIncomplete || perr.ToolProgress || text != "Hello there." {
		t.Errorf("text %q, error %v", text, err)
	}
}

// TestRequestsShareAConnection: reading to the end of the body lets the next
// request of a turn use the same connection.
func TestRequestsShareAConnection(t *testing.T) {
	f := newFixture(t, stream(respText, respEnd), stream(respText, respEnd), stream(respText, respEnd))
	conns := make(map[string]bool)
	inner := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conns[r.RemoteAddr] = true
		inner.ServeHTTP(w, r)
	})
	p := newProvider(t, openai.Config{BaseURL: f.URL})
	for range 3 {
		if _, _, err := collect(t, p, provider.Request{Model: "m1"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(conns) != 1 {
		t.Errorf("%d connections", len(conns))
	}
}

func TestBadBaseURL(t *testing.T) {
	if _, err := openai.New(openai.Config{BaseURL: "http://a b"}, nil); err == nil {
		t.Error("accepted")
	}
}
