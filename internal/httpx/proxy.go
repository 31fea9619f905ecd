package httpx

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// errProxy carries no part of the variable: proxy URLs hold passwords.
var errProxy = errors.New("proxy variable is no usable URL")

// proxies is the outcome of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, each also in
// lower case, which counts first.
type proxies struct {
	http, https       *url.URL
	httpErr, httpsErr error
	except            []exception
	exceptAll         bool
}

// exception is one entry of NO_PROXY.
type exception struct {
	prefix netip.Prefix // valid for an address or a CIDR
	host   string       // lower case, without a leading dot or star
	exact  bool         // host itself counts, not only names below it
	port   string       // "" is any
}

func newProxies(environ []string) *proxies {
	vars := make(map[string]string)
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			vars[name] = value
		}
	}
	first := func(lower, upper string) string {
		if v := strings.TrimSpace(vars[lower]); v != "" {
			return v
		}
		return strings.TrimSpace(vars[upper])
	}
	p := &proxies{}
	p.http, p.httpErr = parseProxy(first("http_proxy", "HTTP_PROXY"))
	p.https, p.httpsErr = parseProxy(first("https_proxy", "HTTPS_PROXY"))
	p.parseExceptions(first("no_proxy", "NO_PROXY"))
	return p
}

func parseProxy(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, errProxy
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, errProxy
}

func (p *proxies) parseExceptions(list string) {
	for entry := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if entry == "*" {
			p.exceptAll = true
			return
		}
		if e, ok := parseException(strings.ToLower(entry)); ok {
			p.except = append(p.except, e)
		}
	}
}

func parseException(s string) (exception, bool) {
	if prefix, err := netip.ParsePrefix(s); err == nil {
		return exception{prefix: prefix.Masked()}, true
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), ""
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return exception{prefix: netip.PrefixFrom(addr, addr.BitLen()), port: port}, true
	}
	below := strings.HasPrefix(host, ".") || strings.HasPrefix(host, "*.")
	host = strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	return exception{host: host, exact: !below, port: port}, host != ""
}

// forRequest is http.Transport's Proxy hook; nil means a direct connection.
func (p *proxies) forRequest(req *http.Request) (*url.URL, error) {
	proxy, err := p.http, p.httpErr
	if req.URL.Scheme == "https" {
		proxy, err = p.https, p.httpsErr
	}
	if proxy == nil && err == nil {
		return nil, nil
	}
	host, port := strings.ToLower(req.URL.Hostname()), req.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[req.URL.Scheme]
	}
	if p.excepted(host, port) {
		return nil, nil
	}
	// Another machine cannot reach our loopback interface; a proxy on this one can.
	if isLoopback(host) && (proxy == nil || !isLoopback(strings.ToLower(proxy.Hostname()))) {
		return nil, nil
	}
	return proxy, err
}

func (p *proxies) excepted(host, port string) bool {
	if p.exceptAll {
		return true
	}
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	for _, e := range p.except {
		switch {
		case e.port != "" && e.port != port:
		case e.prefix.IsValid():
			if isAddr && e.prefix.Contains(addr.Unmap()) {
				return true
			}
		case e.exact && host == e.host, strings.HasSuffix(host, "."+e.host):
			return true
		}
	}
	return false
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
