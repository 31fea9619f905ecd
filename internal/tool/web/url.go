package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"magicode/internal/redact"
)

const maxURL = 2048 // bytes: tools.md 1.16

// checkURL refuses what must not be fetched, by its text alone. The errors name
// the rule and never the URL: it may hold what made it wrong.
func checkURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("the URL is too long: limit %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsAny(raw, " \t\r\n\\") {
		return nil, errors.New("the URL is not valid")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("only http and https URLs can be opened")
	case u.User != nil:
		return nil, errors.New("the URL holds a user name or a password")
	case u.Opaque != "" || u.Host == "":
		return nil, errors.New("the URL has no host")
	case holdsCredential(u) || redact.Text(raw) != raw:
		return nil, errors.New("the URL holds something that looks like a credential")
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	if err := toASCII(u); err != nil {
		return nil, err
	}
	return u, checkHost(u.Hostname())
}

var errHost = errors.New("the URL's host is not valid")

// toASCII gives a host in other letters its xn-- form. Digits and dots of other
// scripts become plain ones by that, so it comes before the host is judged.
func toASCII(u *url.URL) error {
	host := u.Hostname()
	if strings.IndexFunc(host, func(r rune) bool { return r > '~' }) < 0 {
		return nil
	}
	plain, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return errHost
	}
	if port := u.Port(); port != "" {
		plain = net.JoinHostPort(plain, port)
	}
	u.Host = plain
	return nil
}

func checkPort(u *url.URL) error {
	if u.Port() == "" {
		if strings.HasSuffix(u.Host, ":") {
			return errors.New("the URL's port is not valid")
		}
		return nil
	}
	if n, err := strconv.Atoi(u.Port()); err != nil || n < 1 || n > 65535 {
		return errors.New("the URL's port is not valid")
	}
	return nil
}

// holdsCredential looks at the names in the query and in the fragment.
func holdsCredential(u *url.URL) bool {
	for _, part := range [...]string{u.RawQuery, u.EscapedFragment()} {
		for pair := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '&' || r == ';' || r == '?' }) {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if redact.CredentialKey(name) {
				return true
			}
		}
	}
	return false
}

// checkHost takes an address or a plain name. A host whose last label is a
// number is an address or nothing: some resolvers read 2130706433, 0x7f.1 and
// 0177.0.0.1 as one.
func checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !public(addr) {
			return errPrivate
		}
		return nil
	}
	name := strings.TrimSuffix(host, ".")
	if !hostName(name) {
		return errHost
	}
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "" {
		return errors.New("the URL's host is a number in a form that is not accepted")
	}
	return nil
}

// hostName reports a name of ASCII labels (RFC 1123; underscores occur).
func hostName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}
