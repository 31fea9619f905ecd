package otlptest

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Refusing is an endpoint where nobody listens.
func Refusing(t testing.TB) string {
	t.Helper()
	l := listen(t)
	url := "http://" + l.Addr().String()
	_ = l.Close() // so that nobody does
	return url
}

// Hanging takes connections and never answers. asked counts them.
func Hanging(t testing.TB) (url string, asked *atomic.Int64) {
	t.Helper()
	l := listen(t)
	asked = new(atomic.Int64)
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
		for _, conn := range open {
			_ = conn.Close() // it has served its purpose
		}
	})
	return "http://" + l.Addr().String(), asked
}

// Answering answers each request with a status and a header.
func Answering(t testing.TB, status int, header ...string) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		for i := 0; i+1 < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		rw.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// SlowTLS is a collector behind TLS that waits before it reads anything, so that
// a handshake takes several times as long.
func SlowTLS(t testing.TB, wait time.Duration) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(new(Collector).serveHTTP))
	s.Listener = slowListener{s.Listener, wait}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // that clients go away is the point
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

type slowListener struct {
	net.Listener
	wait time.Duration
}

func (l slowListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return slowConn{conn, l.wait}, err
}

type slowConn struct {
	net.Conn
	wait time.Duration
}

func (c slowConn) Read(b []byte) (int, error) {
	time.Sleep(c.wait)
	return c.Conn.Read(b)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
