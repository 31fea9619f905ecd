package otlptest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
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

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
