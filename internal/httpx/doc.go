// Package httpx is the one HTTP client policy of the program (providers.md
// 7.1): connect 10 s, response headers 120 s, proxy variables honoured, no
// redirects, no compression, HTTP/1.1 with kept connections.
//
// Client is a plain http.RoundTripper: it never follows a redirect, keeps no
// cookies and adds no header but Host and Content-Length. What a request means,
// how often it is tried and how its body is watched is its callers' business.
//
// Everything hangs on a Client value. The proxy variables are read from the
// environment that New is given, not from the process. System certificates are
// loaded by the first TLS handshake, or earlier by Preload.
package httpx
