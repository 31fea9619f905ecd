package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"magicode/internal/fdio"
)

// Limits of one exchange: providers.md 7.1 and 7.2.
const (
	ConnectTimeout = 10 * time.Second
	HeaderTimeout  = 120 * time.Second
)

const (
	idleConnTimeout  = 90 * time.Second
	maxIdlePerHost   = 8
	socketBufferSize = 32 << 10
	maxHeaderBytes   = 256 << 10
)

// Options of New. The zero value is a direct client without proxies.
type Options struct {
	// Environ holds "NAME=value" strings, as os.Environ gives them; the last one
	// of a name counts. Only the proxy variables are read, once.
	Environ []string
	// Dial replaces the network dialer: of tests, and of who goes to addresses
	// that it has chosen or waits less long.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// RootCAs replaces the system's certificates.
	RootCAs *x509.CertPool
	// HeaderTimeout replaces the wait for response headers; 0 is HeaderTimeout.
	HeaderTimeout time.Duration
}

// Client sends requests. It is safe for concurrent use. Close it to release the
// connections that it keeps for reuse.
type Client struct {
	transport *http.Transport
}

// New returns a client. It opens nothing and reads no file.
func New(o Options) *Client {
	dial := o.Dial
	if dial == nil {
		dial = dialer((&net.Dialer{Timeout: ConnectTimeout, KeepAlive: 30 * time.Second}).DialContext)
	}
	headers := o.HeaderTimeout
	if headers == 0 {
		headers = HeaderTimeout
	}
	return &Client{transport: &http.Transport{
		Proxy:                  newProxies(o.Environ).forRequest,
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    ConnectTimeout,
		ResponseHeaderTimeout:  headers,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleConnTimeout,
		ReadBufferSize:         socketBufferSize,
		WriteBufferSize:        socketBufferSize,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// A map that is not nil switches HTTP/2 off: one stream per connection
		// lets a cancelled generation end by closing its socket.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer makes connections on which a stream's next piece costs little.
func dialer(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return fdio.Conn(c), nil
	}
}

// RoundTrip sends one request and returns its response, whatever the status: a
// redirect is a response like others. The caller closes the body. A request
// whose context ends fails at once, in any phase.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.transport.RoundTrip(req)
}

// Preload loads the system's certificates, which takes some 20 ms and is
// otherwise done by the first TLS handshake. It may run in the background.
func (c *Client) Preload() {
	if c.transport.TLSClientConfig.RootCAs == nil {
		_, _ = x509.SystemCertPool() // the pool is kept by crypto/x509; a failure shows in the handshake
	}
}

// Close drops the kept connections. Requests on the way are not touched. It may
// be called more than once, and the client still works afterwards.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}
