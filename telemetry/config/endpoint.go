package config

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxURL bounds an endpoint (telemetry.md 9.1).
const maxURL = 2048

// endpoint is one that may be sent to.
type endpoint struct{ *url.URL }

// origin is what decides whether two endpoints are the same receiver.
func (e endpoint) origin() string { return e.Scheme + "://" + e.Host }

// signal appends the path of a signal, as the standard says for endpoints that
// are not one signal's own.
func (e endpoint) signal(path string) string {
	u := *e.URL
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawPath = ""
	return u.String()
}

// parseEndpoint reads an absolute http or https URL without user, query and
// fragment. Plain http is for this machine only. The code is "" when all is well.
func parseEndpoint(s string) (e endpoint, code string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || len(s) > maxURL || !clean(s) || strings.ContainsAny(s, "#? "),
		u.Scheme != "http" && u.Scheme != "https",
		u.Opaque != "" || u.User != nil || u.RawPath != "",
		!validHost(u):
		return endpoint{}, CodeEndpointInvalid
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return endpoint{}, CodeInsecure
	}
	return endpoint{u}, ""
}

func validHost(u *url.URL) bool {
	host, port := u.Hostname(), u.Port()
	if host == "" || strings.ContainsAny(host, "%/\\@") || strings.HasSuffix(u.Host, ":") {
		return false
	}
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// loopback: localhost, 127.0.0.0/8 and ::1.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
