package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// get follows no redirect and keeps no connection.
func get(t *testing.T, method, address string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestCallback(t *testing.T) {
	denied := errors.New("denied")
	for name, c := range map[string]struct {
		method string
		path   string
		query  url.Values
		taken  bool // the redirect ends the wait
		err    string
		code   string
	}{
		"comes back":     {path: "/cb", query: url.Values{"code": {"x"}}, taken: true, code: "x"},
		"no code":        {path: "/cb", query: url.Values{}, taken: true, err: "sent no code"},
		"refused":        {path: "/cb", query: url.Values{"error": {"e"}}, taken: true, err: "denied"},
		"another state":  {path: "/cb", query: url.Values{"code": {"x"}, "state": {"other"}}},
		"another path":   {path: "/", query: url.Values{"code": {"x"}}},
		"another method": {method: http.MethodPost, path: "/cb", query: url.Values{"code": {"x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			cb, err := Listen(Options{Path: "/cb", Refused: func(q url.Values) error {
				if q.Has("error") {
					return denied
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer cb.Close()
			if !c.query.Has("state") {
				c.query.Set("state", cb.State())
			}
			at, _ := url.Parse(cb.Redirect())
			at.Path, at.RawQuery = c.path, c.query.Encode()
			method := c.method
			if method == "" {
				method = http.MethodGet
			}
			status, text := get(t, method, at.String())
			if (status == http.StatusOK) != c.taken || strings.Contains(text, "x=") {
				t.Errorf("%d %s", status, text)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			if !c.taken {
				cancel(errors.New("nobody came"))
				c.err = "nobody came"
			}
			defer cancel(nil)
			code, err := cb.Wait(ctx)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && code != c.code {
				t.Errorf("%q %v", code, err)
			}
		})
	}
}

func TestPorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	if _, err := Listen(Options{Ports: []int{taken}}); !errors.Is(err, ErrNoPort) {
		t.Error(err)
	}
	cb, err := Listen(Options{Ports: []int{taken, 0}, Host: "localhost", Path: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Close()
	if u, err := url.Parse(cb.Redirect()); err != nil || u.Hostname() != "localhost" || u.Path != "/p" || u.Port() == "0" {
		t.Error(cb.Redirect())
	}
}

func TestPKCE(t *testing.T) {
	// RFC 7636, appendix B.
	if got := Challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Error(got)
	}
	if a, b := Random(), Random(); a == b || len(a) != 43 {
		t.Error(a, b)
	}
}
