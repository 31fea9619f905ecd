package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"magicode/internal/config"
	"magicode/internal/tool"
	"magicode/telemetry"
)

// stopWait bounds Close. Together with the release of writers and leases it must
// fit the cleanup wait of 2,000 ms (protocol, "Bounds").
const stopWait = 1500 * time.Millisecond

// Options say how servers are connected.
type Options struct {
	Lookup  config.Lookup // for PATH
	Dir     string        // the child's working directory, absolute
	Version string        // of this program
	HTTP    http.RoundTripper
	// Auth gives the credential of an HTTP server whose definition has oauth.
	Auth func(config.MCPServer) Authorizer
	Tel  telemetry.Tel
}

// Manager owns the connections to all servers of a snapshot. It is safe for
// concurrent use.
type Manager struct {
	tel   telemetry.Tel
	links []*link // in the order of the definitions

	once sync.Once
	err  error
}

// Connect connects every server, all at once: its tools are known when it
// returns. The first failure, an *Error, stops the others, and everything that
// was started is ended before Connect returns. When ctx ends, its cause is the
// error. The caller owns the Manager and closes it.
func Connect(ctx context.Context, o Options, servers []config.MCPServer) (*Manager, error) {
	m := &Manager{tel: o.Tel}
	for i, s := range servers {
		m.links = append(m.links, &link{server: s, label: labelOf(i), version: o.Version, peer: newPeer()})
	}
	if err := m.connect(ctx, o); err != nil {
		_ = m.Close() // the first failure says it all
		return nil, err
	}
	return m, nil
}

// maxLabels bounds the labels of servers (telemetry.md 4.3).
const maxLabels = 16

// labelOf is what telemetry calls the server at a place.
func labelOf(i int) string {
	if i >= maxLabels {
		return "mcp-other"
	}
	return "mcp-" + strconv.Itoa(i+1)
}

func (m *Manager) connect(ctx context.Context, o Options) error {
	all, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, l := range m.links {
		wg.Go(func() {
			if err := l.connect(all, o); err != nil {
				cancel(failure(l.server.Name, l.phase, err)) // the first one stays the cause
			}
		})
	}
	wg.Wait()
	if all.Err() == nil {
		return nil
	}
	cause := context.Cause(all)
	var failed *Error
	if errors.As(cause, &failed) {
		for _, l := range m.links {
			if l.server.Name == failed.Server {
				failed.Stderr = l.stderr()
			}
		}
	}
	return cause
}

// connect starts one server and opens its session.
func (l *link) connect(ctx context.Context, o Options) (err error) {
	ctx, span := o.Tel.Begin(ctx, telemetry.SpanMCPConnect)
	defer span.End()
	l.describe(span)
	l.connecting = span
	defer func() {
		l.connecting = telemetry.Span{}
		span.Int(telemetry.KeyCount, int64(len(l.tools)))
		if err != nil {
			span.Fail(errorCode(err))
		}
	}()
	l.tel = o.Tel
	l.enter(PhaseSpawn)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := l.spawn(o); err != nil {
		return err
	}
	span.Event(telemetry.EventMCPSpawned)
	l.since = time.Now()
	return l.open(ctx)
}

// describe says which server a span is about: by its place among them, and by
// its name as far as the user's setting lets it.
func (l *link) describe(span telemetry.Span) {
	if !span.On() {
		return
	}
	span.Str(telemetry.KeyMCPServer, telemetry.WordOf(l.label))
	span.Str(telemetry.KeyTransport, telemetry.WordOf(l.carrier()))
	span.Name(telemetry.KeyMCPHash, telemetry.ServerName(l.server.Name))
	span.Name(telemetry.KeyMCPName, telemetry.PlainName(l.server.Name))
}

func (l *link) carrier() string {
	if l.server.HTTP != nil {
		return "tcp"
	}
	return "pipe"
}

// spawn makes the transport.
func (l *link) spawn(o Options) error {
	if l.server.HTTP != nil {
		var auth Authorizer
		if l.server.HTTP.OAuth != nil {
			if o.Auth == nil {
				return fmt.Errorf("%w: OAuth is not available here", ErrLoginNeeded)
			}
			auth = o.Auth(l.server)
		}
		h := newStreamable(*l.server.HTTP, o.HTTP, auth, l.peer)
		h.handshake = func(ctx context.Context) error {
			_, err := l.handshake(ctx)
			return err
		}
		l.transport = h
	} else {
		s, err := spawn(*l.server.Stdio, o.Lookup, o.Dir, l.peer)
		if err != nil {
			return err
		}
		l.transport = s
	}
	l.peer.start(l.transport)
	return nil
}

// errorCode is the error for telemetry (telemetry.md 4.3): the number of a
// JSON-RPC error, or a word.
func errorCode(err error) telemetry.Code {
	var rpc *rpcError
	if errors.As(err, &rpc) {
		return telemetry.RPCCode(rpc.code)
	}
	word := "transport"
	switch {
	case errors.Is(err, errTimeout):
		word = "timeout"
	case errors.Is(err, errProtocol), errors.Is(err, errFraming):
		word = "protocol"
	case errors.Is(err, ErrLoginNeeded):
		word = "auth"
	case errors.Is(err, context.Canceled), errors.Is(err, errClosed):
		word = "cancelled"
	}
	return telemetry.CodeOf(word)
}

// Tools lists the tools of all servers, by name.
func (m *Manager) Tools() []tool.Tool {
	var out []tool.Tool
	for _, l := range m.links {
		for _, r := range l.tools {
			out = append(out, r)
		}
	}
	return out
}

// Stop ends all connections: every server is told before any is waited for. It
// returns when all have ended or ctx has; what is left then is killed by the
// deadline of ctx itself (proc.Process.Stop) or has nothing but an ended context
// to come back to. Calls under way fail. It may be called more than once.
func (m *Manager) Stop(ctx context.Context) error {
	m.once.Do(func() { m.err = m.stop(ctx) })
	return m.err
}

func (m *Manager) stop(ctx context.Context) error {
	_, span := m.tel.Begin(ctx, telemetry.SpanCleanupMCPRequest)
	span.Int(telemetry.KeyCount, int64(len(m.links)))
	for _, l := range m.links {
		l.tell()
	}
	span.End()
	errs := make([]error, len(m.links))
	var wg sync.WaitGroup
	for i, l := range m.links {
		wg.Go(func() {
			_, span := m.tel.Begin(ctx, telemetry.SpanCleanupMCPClose)
			defer span.End()
			l.describe(span)
			errs[i] = l.wait(ctx, func(step string, e telemetry.EventName) {
				span.Event(e)
				span.Str(telemetry.KeyMCPStep, telemetry.WordOf(step))
			})
			l.ended(errs[i])
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close is Stop within 1,500 ms.
func (m *Manager) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	return m.Stop(ctx)
}
