package config

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// expand puts variables into an approved definition and validates the values
// (storage.md 4.3).
func (d mcpDefinition) expand(name string, lookup Lookup) (MCPServer, *problem) {
	s := MCPServer{Name: name, Source: d.source, Timeout: time.Duration(d.timeout) * time.Second}
	if d.timeout < 1 || d.timeout > 300 {
		return s, wrong("is out of range (1 to 300)", "timeout")
	}
	if d.kind == "stdio" {
		stdio, p := d.stdio.expand(lookup)
		s.Stdio = stdio
		return s, p
	}
	http, p := d.http.expand(lookup)
	s.HTTP = http
	return s, p
}

func (d StdioServer) expand(lookup Lookup) (*StdioServer, *problem) {
	out := &StdioServer{Args: make([]string, 0, len(d.Args))}
	var p *problem
	if out.Command, p = substitute(d.Command, lookup); p != nil {
		return nil, p.under("command")
	}
	if strings.TrimSpace(out.Command) == "" {
		return nil, wrong("is blank", "command")
	}
	for i, arg := range d.Args {
		arg, p := substitute(arg, lookup)
		if p != nil {
			return nil, p.under(strconv.Itoa(i)).under("args")
		}
		out.Args = append(out.Args, arg)
	}
	out.Env, p = substituteAll(d.Env, lookup)
	return out, p.under("env")
}

func (d HTTPServer) expand(lookup Lookup) (*HTTPServer, *problem) {
	out := &HTTPServer{OAuth: d.OAuth}
	var p *problem
	if out.URL, p = substitute(d.URL, lookup); p != nil {
		return nil, p.under("url")
	}
	if reason := serverURL(out.URL); reason != "" {
		return nil, wrong(reason, "url")
	}
	if out.Headers, p = substituteAll(d.Headers, lookup); p != nil {
		return nil, p.under("headers")
	}
	for _, name := range sortedKeys(out.Headers) {
		if reason := serverHeader(name, out.Headers[name], d.OAuth != nil); reason != "" {
			return nil, wrong(reason, "headers", name)
		}
	}
	return out, d.OAuth.check().under("oauth")
}

func (o *MCPOAuth) check() *problem {
	if o == nil {
		return nil
	}
	if o.ClientID != nil && strings.TrimSpace(*o.ClientID) == "" {
		return wrong("is blank", "client_id")
	}
	for i, scope := range o.Scopes {
		if !visible(scope) {
			return wrong("must be printable ASCII", "scopes", strconv.Itoa(i))
		}
	}
	if o.AuthorizationServer != nil {
		return complaint(serverURL(*o.AuthorizationServer)).under("authorization_server")
	}
	return nil
}

func substituteAll(m map[string]string, lookup Lookup) (map[string]string, *problem) {
	out := make(map[string]string, len(m))
	for _, k := range sortedKeys(m) {
		v, p := substitute(m[k], lookup)
		if p != nil {
			return nil, p.under(k)
		}
		out[k] = v
	}
	return out, nil
}

// substitute replaces ${NAME} and ${NAME:-text} in one pass. Neither the values
// nor the texts are looked through again.
func substitute(s string, lookup Lookup) (string, *problem) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		body, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", wrong("has a ${ without a }")
		}
		name, fallback, hasFallback := strings.Cut(body, ":-")
		if !variableName(name) {
			return "", wrong("has a ${…} that names no variable")
		}
		value, set := lookup(name)
		if !set {
			if !hasFallback {
				return "", wrong("needs a variable that is not set")
			}
			value = fallback
		}
		b.WriteString(value)
		s = after
	}
}

// variableName is [A-Za-z_][A-Za-z0-9_]*.
func variableName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '-' || !wordByte(c) || i == 0 && '0' <= c && c <= '9' {
			return false
		}
	}
	return s != ""
}

// serverURL is an absolute URL without userinfo: https, or http on this machine.
func serverURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return "is no absolute URL"
	case u.User != nil:
		return "must not hold a user name"
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return ""
	}
	return "must be https, or http to localhost"
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func serverHeader(name, value string, oauth bool) string {
	if !headerToken(name) {
		return "is no header name"
	}
	if oauth && (strings.EqualFold(name, "authorization") || strings.EqualFold(name, "proxy-authorization")) {
		return "cannot stand beside oauth"
	}
	for i := 0; i < len(value); i++ {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return "holds a control character"
		}
	}
	return ""
}
