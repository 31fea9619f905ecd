package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/tool"
	"magicode/telemetry"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodList        = "tools/list"
	methodCall        = "tools/call"
)

// versions that we take, the one we offer first. Newer ones have no handshake.
var versions = [...]string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const (
	// maxPages bounds a listing: tools.md 6.2.
	maxPages = 100
	// A server's tools all go into every request to the model: what passes these
	// bounds would not be usable anyway.
	maxTools           = 1024
	maxDefinitionBytes = 4 << 20
	maxCursorBytes     = 64 << 10
)

// link is the connection to one server.
type link struct {
	server    config.MCPServer
	label     string // mcp-1 …: what telemetry may call it
	version   string // of this program
	peer      *peer
	transport transport // nil until spawned
	phase     Phase     // the last one begun; owned by whoever connects
	steps     []Step    // all of them
	protocol  string    // negotiated
	tools     []*remote

	tel        telemetry.Tel
	connecting telemetry.Span // of the connection under way
	since      time.Time      // spawned; zero: not yet
}

// enter begins a phase.
func (l *link) enter(p Phase) {
	l.connecting.Str(telemetry.KeyMCPPhase, telemetry.WordOf(string(p)))
	l.phase = p
	l.steps = append(l.steps, Step{Phase: p, At: time.Now()})
}

// open does everything from the handshake to the list of tools.
func (l *link) open(ctx context.Context) error {
	l.enter(PhaseInitialize)
	hello, err := l.handshake(ctx)
	if err != nil {
		return err
	}
	l.protocol = hello.version
	if h, ok := l.transport.(*streamable); ok {
		h.wg.Go(h.listen)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	l.enter(PhaseList)
	raw, err := l.list(ctx)
	var refused *rpcError
	if errors.As(err, &refused) && refused.code == codeMethodNotFound && !hello.tools {
		raw, err = nil, nil // a server without tools, which had not promised any
	}
	if err != nil {
		return err
	}
	l.enter(PhaseRoutes)
	if l.tools, err = l.routes(raw); err != nil {
		return err
	}
	l.enter(PhaseDone)
	return nil
}

// hello is what a server says of itself.
type hello struct {
	version string
	tools   bool // it promises some
}

// handshake opens a session (tools.md 6.2). It may run again, when an HTTP server
// has lost the session, and changes nothing of the link.
func (l *link) handshake(ctx context.Context) (hello, error) {
	if h, ok := l.transport.(*streamable); ok {
		h.begin()
	}
	params := append([]byte(`{"protocolVersion":"`), versions[0]...)
	params = append(params, `","capabilities":{},"clientInfo":{"name":"magi-code","version":`...)
	params = jsonscan.AppendString(params, l.version)
	params = append(params, "}}"...)
	res, err := l.request(ctx, methodInitialize, params)
	if err != nil {
		return hello{}, err
	}
	version := res.Get("protocolVersion").LenientText()
	if !slices.Contains(versions[:], version) {
		return hello{}, fmt.Errorf("%w: the server speaks version %q, which is not supported", errProtocol, redact.Cut(shown(version), 64))
	}
	if h, ok := l.transport.(*streamable); ok {
		h.negotiated(version)
	}
	limited, cancel := context.WithTimeoutCause(ctx, l.server.Timeout, errTimeout)
	defer cancel()
	if err := l.peer.notify(limited, methodInitialized, nil); err != nil {
		return hello{}, err
	}
	if h, ok := l.transport.(*streamable); ok {
		h.publish()
	}
	return hello{version, res.Get("capabilities").Get("tools").Kind() == jsonscan.Object}, nil
}

// list asks for all pages of tools.
func (l *link) list(ctx context.Context) ([]jsonscan.Value, error) {
	var out []jsonscan.Value
	seen := map[string]bool{}
	cursor, size := "", 0
	for range maxPages {
		var params []byte
		if cursor != "" {
			params = append(jsonscan.AppendString([]byte(`{"cursor":`), cursor), '}')
		}
		res, err := l.request(ctx, methodList, params)
		if err != nil {
			return nil, err
		}
		page := res.Get("tools")
		if page.Kind() != jsonscan.Array {
			return nil, fmt.Errorf("%w: a list of tools without tools", errProtocol)
		}
		for t := range page.Elements() {
			out, size = append(out, t), size+len(t)
		}
		if len(out) > maxTools || size > maxDefinitionBytes {
			return nil, fmt.Errorf("the server has more than %d tools or %d bytes of definitions", maxTools, maxDefinitionBytes)
		}
		next := res.Get("nextCursor")
		if next.Kind() != jsonscan.String {
			return out, nil
		}
		cursor = next.LenientText()
		if cursor == "" {
			return out, nil
		}
		if seen[cursor] || len(cursor) > maxCursorBytes {
			return nil, fmt.Errorf("%w: the list of tools repeats a cursor", errProtocol)
		}
		seen[cursor] = true
	}
	return nil, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}

// routes gives each tool its name and definition (tools.md 6.1, 6.5).
func (l *link) routes(raw []jsonscan.Value) ([]*remote, error) {
	out := make([]*remote, 0, len(raw))
	names := map[string]bool{}
	for _, v := range raw {
		own := v.Get("name").LenientText()
		name := "mcp__" + l.server.Name + "__" + own
		if !tool.IsMCPName(name) {
			return nil, fmt.Errorf("the tool %q cannot be offered: names have letters, digits, hyphens and single underscores, and at most 64 bytes with the server's", redact.Cut(shown(own), 128))
		}
		if names[name] {
			return nil, fmt.Errorf("%w: the tool %s is listed twice", errProtocol, own)
		}
		names[name] = true
		out = append(out, newRemote(l, name, own, v))
	}
	slices.SortFunc(out, func(a, b *remote) int { return strings.Compare(a.definition.Name, b.definition.Name) })
	return out, nil
}

// request asks the server, inside a span of its own, which may have a tool's name.
func (l *link) request(ctx context.Context, method string, params []byte, tools ...string) (jsonscan.Value, error) {
	ctx, span := l.tel.Begin(ctx, telemetry.SpanMCPCall)
	defer span.End()
	if span.On() {
		span.Str(telemetry.KeyMCPMethod, telemetry.WordOf(method))
		l.describe(span)
		for _, name := range tools {
			_, safe := redact.SafeName(name)
			span.Name(telemetry.KeyMCPTool, telemetry.ToolName(name, safe))
		}
	}
	res, err := l.peer.call(ctx, l.server.Timeout, method, params)
	if !span.On() {
		return res, err
	}
	if method == methodInitialize {
		span.Str(telemetry.KeyMCPProtocol, telemetry.WordOf(res.Get("protocolVersion").LenientText()))
	} else if l.protocol != "" {
		span.Str(telemetry.KeyMCPProtocol, telemetry.WordOf(l.protocol))
	}
	failed, _ := res.Get("isError").Bool()
	switch {
	case err != nil:
		span.Fail(errorCode(err))
	case method == methodCall && failed:
		span.Fail(telemetry.CodeOf("tool_error"))
	}
	return res, err
}

// call runs one of the server's tools.
func (l *link) call(ctx context.Context, name string, args []byte) (jsonscan.Value, error) {
	params := make([]byte, 0, len(name)+len(args)+32)
	params = jsonscan.AppendString(append(params, `{"name":`...), name)
	params = append(append(params, `,"arguments":`...), args...)
	return l.request(ctx, methodCall, append(params, '}'), name)
}

// tell begins the end of the connection without waiting.
func (l *link) tell() {
	l.peer.fail(errClosed)
	if l.transport != nil {
		l.transport.tell()
	}
}

// ended tells telemetry how long the connection lasted.
func (l *link) ended(err error) {
	if l.since.IsZero() || !l.tel.On() {
		return
	}
	l.peer.mu.Lock()
	broken := l.peer.broken
	l.peer.mu.Unlock()
	if err == nil && !errors.Is(broken, errClosed) {
		err = broken
	}
	l.tel.MCPSession(telemetry.WordOf(l.carrier()), time.Since(l.since), err != nil, errorCode(err))
}

// stepped is told of every step of an end when it begins.
type stepped func(step string, e telemetry.EventName)

// wait waits until the server has ended.
func (l *link) wait(ctx context.Context, step stepped) error {
	var err error
	if l.transport != nil {
		err = l.transport.wait(ctx, step)
	}
	if ctx.Err() == nil {
		step("done", telemetry.EventMCPDone)
	}
	done := make(chan struct{})
	go func() { l.peer.close(); close(done) }()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		// detaches: sends whose context has ended.
		return errors.Join(err, context.Cause(ctx))
	}
}

// stderr is the end of what a stdio server wrote there.
func (l *link) stderr() string {
	if s, ok := l.transport.(*stdio); ok {
		return redact.Display(s.child.StderrText())
	}
	return ""
}
