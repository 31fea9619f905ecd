package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"magicode/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver: what each look-up of a name gives, the last one for ever.
type names struct {
	mu    sync.Mutex
	hosts map[string][][]string
	asked []string
}

func (n *names) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	answers := n.hosts[strings.TrimSuffix(host, ".")]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.hosts[strings.TrimSuffix(host, ".")] = answers[1:]
	}
	var out []netip.Addr
	for _, a := range answers[0] {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, ctx.Err()
}

// internet is a tool whose connections all end at one server of the test,
// whatever address they are for; that address is noted.
type internet struct {
	*names
	tool   *Tool
	server *httptest.Server
	mu     sync.Mutex
	dialed []string
	refuse []string // addresses that do not answer
}

const somewhere = "93.184.215.14"

func newInternet(t *testing.T, h http.HandlerFunc) *internet {
	t.Helper()
	n := &internet{names: &names{hosts: map[string][][]string{"example.org": {{somewhere}}}}}
	n.server = httptest.NewServer(h)
	t.Cleanup(n.server.Close)
	n.tool = New(Options{UserAgent: "magi-code/9", Resolver: n.names, Dial: n.dial})
	return n
}

var errRefused = errors.New("connection refused")

func (n *internet) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, addr)
	refused := slices.Contains(n.refuse, addr)
	n.mu.Unlock()
	if refused {
		return nil, errRefused
	}
	return (&net.Dialer{}).DialContext(ctx, network, n.server.Listener.Addr().String())
}

func (n *internet) run(ctx context.Context, args any) tool.Result {
	raw, ok := args.(string)
	if !ok {
		b, _ := json.Marshal(args)
		raw = string(b)
	}
	return n.tool.Run(ctx, tool.Env{}, json.RawMessage(raw))
}

func (n *internet) open(url string) tool.Result {
	return n.run(context.Background(), map[string]string{"operation": "open", "url": url})
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}
}
