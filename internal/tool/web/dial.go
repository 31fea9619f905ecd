package web

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Bounds of finding and reaching a host: tools.md 1.16.
const (
	resolveTimeout = 5 * time.Second
	connectTimeout = 5 * time.Second
	maxResolvers   = 8
)

var (
	errPrivate = errors.New("the host is not public: addresses of this machine, of private networks and of reserved ranges are not opened")
	errResolve = errors.New("the host could not be resolved")
	errReach   = errors.New("the host could not be reached")
	errTime    = errors.New("the page took too long")
)

// Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// addresses resolves a host, once. All of them must be public: one that is not
// makes the name suspect.
func (t *Tool) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return checked([]netip.Addr{addr})
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	select {
	case t.resolving <- struct{}{}: // full: waits, within the time of a look-up
		defer func() { <-t.resolving }()
	case <-ctx.Done():
		return nil, errResolve
	}
	if !strings.HasSuffix(host, ".") {
		host += "." // as it stands: no search domain of this machine
	}
	found, err := t.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return nil, errResolve
	}
	return checked(found)
}

func checked(list []netip.Addr) ([]netip.Addr, error) {
	for _, a := range list {
		if !public(a) {
			return nil, errPrivate
		}
	}
	return list, nil
}

// pinned returns a dialer that goes to these addresses, whatever it is asked
// for; only the port counts. They share the time of one connect.
func (t *Tool) pinned(to []netip.Addr) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, errReach
		}
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		for _, a := range to {
			conn, err := t.o.Dial(ctx, "tcp", net.JoinHostPort(a.Unmap().String(), port))
			if err == nil {
				return conn, nil
			}
			if ctx.Err() != nil {
				break
			}
		}
		return nil, errReach
	}
}
