package httpx_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/httpx"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, o httpx.Options) *httpx.Client {
	t.Helper()
	c := httpx.New(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func get(t *testing.T, c *httpx.Client, target string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

func TestSendsNothingOfItsOwn(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "User-Agent" { // ours to set; net/http names itself otherwise
				t.Errorf("header %s: %v", name, r.Header[name])
			}
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "not really gzip")
	}))
	defer srv.Close()
	if _, body := get(t, newClient(t, httpx.Options{}), srv.URL); body != "not really gzip" {
		t.Errorf("body %q was decoded", body)
	}
}

func TestRedirectsAreResponses(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	resp, _ := get(t, newClient(t, httpx.Options{}), srv.URL)
	if resp.StatusCode != 307 || hits.Load() != 1 {
		t.Errorf("status %d after %d requests", resp.StatusCode, hits.Load())
	}
}

func TestConnectionsAreReused(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "x") }))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, httpx.Options{})
	for range 5 {
		get(t, c, srv.URL)
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections for 5 requests", conns.Load())
	}
}

func TestTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("protocol %s", r.Proto)
		}
		_, _ = io.WriteString(w, "x")
	}))
	defer srv.Close()
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if _, body := get(t, newClient(t, httpx.Options{RootCAs: roots}), srv.URL); body != "x" {
		t.Errorf("body %q", body)
	}
	c := newClient(t, httpx.Options{})
	c.Preload()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := c.RoundTrip(req); err == nil {
		resp.Body.Close()
		t.Error("a certificate that nobody trusts was accepted")
	}
}

// pipes is a dialer whose server side does nothing by itself.
func pipes(serve func(net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server)
		return client, nil
	}
}

func TestHeaderTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(c net.Conn) {
			defer c.Close()
			_, _ = io.Copy(io.Discard, c)
		}
		c := httpx.New(httpx.Options{Dial: pipes(silent)})
		defer c.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host.test/", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := c.RoundTrip(req); err == nil || time.Since(start) != httpx.HeaderTimeout {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(c net.Conn) {
			defer c.Close()
			_, _ = io.Copy(io.Discard, c)
		}
		c := httpx.New(httpx.Options{Dial: pipes(silent)})
		defer c.Close()
		cause := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host.test/", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := c.RoundTrip(req); err == nil || time.Since(start) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

// TestStaleConnection: a kept connection that the server has closed costs no error.
func TestStaleConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			// One answer that promises to stay open, then the connection goes.
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
			}
			conn.Close()
		}
	}()
	c := newClient(t, httpx.Options{})
	for range 20 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+ln.Addr().String(), strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Idempotency-Key"] = nil
		resp, err := c.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func TestThroughAProxy(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = io.WriteString(w, "from the proxy")
	}))
	defer proxy.Close()
	c := newClient(t, httpx.Options{Environ: []string{"HTTP_PROXY=" + proxy.URL}})
	if _, body := get(t, c, "http://model.invalid/v1"); body != "from the proxy" || asked != "http://model.invalid/v1" {
		t.Errorf("asked for %q, got %q", asked, body)
	}
}

func TestProxyRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		target  string
		want    string // host of the proxy, "" is direct, "error"
	}{
		{"none", nil, "http://a.test/", ""},
		{"http", []string{"HTTP_PROXY=http://p.test:1"}, "http://a.test/", "p.test:1"},
		{"http is not for https", []string{"HTTP_PROXY=http://p.test:1"}, "https://a.test/", ""},
		{"https", []string{"HTTPS_PROXY=http://p.test:2"}, "https://a.test/", "p.test:2"},
		{"lower case counts first", []string{"HTTPS_PROXY=http://p.test:2", "https_proxy=http://q.test:3"}, "https://a.test/", "q.test:3"},
		{"the last one counts", []string{"HTTP_PROXY=http://p.test:1", "HTTP_PROXY=http://q.test:2"}, "http://a.test/", "q.test:2"},
		{"without a scheme", []string{"HTTP_PROXY=p.test:1"}, "http://a.test/", "p.test:1"},
		{"socks", []string{"HTTP_PROXY=socks5://p.test:1"}, "http://a.test/", "p.test:1"},
		{"no URL", []string{"HTTP_PROXY=http://[::1"}, "http://a.test/", "error"},
		{"other scheme", []string{"HTTP_PROXY=ftp://p.test"}, "http://a.test/", "error"},
		{"empty", []string{"HTTP_PROXY="}, "http://a.test/", ""},
		{"except all", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=*"}, "http://a.test/", ""},
		{"except a host", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=b.test, a.test"}, "http://a.test/", ""},
		{"except below it", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=test"}, "http://x.a.test/", ""},
		{"not a suffix of letters", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=a.test"}, "http://ba.test/", "p.test:1"},
		{"a dot excepts only below", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=.a.test"}, "http://a.test/", "p.test:1"},
		{"a dot, below", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=.a.test"}, "http://x.a.test/", ""},
		{"upper case", []string{"HTTP_PROXY=http://p.test:1", "no_proxy=A.TEST"}, "http://a.Test/", ""},
		{"a port", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=a.test:8080"}, "http://a.test:8080/", ""},
		{"another port", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=a.test:8080"}, "http://a.test/", "p.test:1"},
		{"the default port", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=a.test:80"}, "http://a.test/", ""},
		{"an address", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=10.0.0.1"}, "http://10.0.0.1/", ""},
		{"a network", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=10.0.0.0/8"}, "http://10.9.8.7/", ""},
		{"outside the network", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=10.0.0.0/8"}, "http://11.9.8.7/", "p.test:1"},
		{"IPv6", []string{"HTTP_PROXY=http://p.test:1", "NO_PROXY=[fd00::1]:81"}, "http://[fd00::1]:81/", ""},
		{"loopback and a far proxy", []string{"HTTP_PROXY=http://p.test:1"}, "http://127.0.0.1:9/", ""},
		{"localhost and a far proxy", []string{"HTTP_PROXY=http://p.test:1"}, "http://localhost:9/", ""},
		{"loopback and a loopback proxy", []string{"HTTP_PROXY=http://127.0.0.1:1"}, "http://127.0.0.1:9/", "127.0.0.1:1"},
		{"loopback excepted", []string{"HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1,localhost,::1"}, "http://127.0.0.1:9/", ""},
	} {
		u, err := url.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch proxy, err := httpx.ProxyFor(c.environ, u); {
		case err != nil:
			got = "error"
		case proxy != nil:
			got = proxy.Host
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "x") }))
	defer srv.Close()
	c := httpx.New(httpx.Options{})
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, strings.NewReader("body"))
		if err != nil {
			b.Fatal(err)
		}
		resp, err := c.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
