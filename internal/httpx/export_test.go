package httpx

import (
	"net/http"
	"net/url"
)

// ProxyFor is the proxy that a client with this environment uses.
func ProxyFor(environ []string, target *url.URL) (*url.URL, error) {
	return newProxies(environ).forRequest(&http.Request{URL: target})
}
