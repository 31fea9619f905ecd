package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"magicode/internal/config"
	"magicode/internal/mcp/oauth"
	"magicode/telemetry"
)

const (
	// deleteWait bounds the end of a session: tools.md 6.3.
	deleteWait = 500 * time.Millisecond
	// maxBody bounds what is read of an answer that is none, to name its reason.
	maxBody = 4 << 10
	// maxSession bounds a session id, which is repeated with every request.
	maxSession = 1024

	headerSession = "Mcp-Session-Id"
	headerVersion = "MCP-Protocol-Version"
	jsonType      = "application/json"
	eventsType    = "text/event-stream"
	acceptBoth    = jsonType + ", " + eventsType
)

// Authorizer gives the credential of an HTTP server. *oauth.Tokens is one.
type Authorizer interface {
	// Token returns a bearer token that is good for a while. refused is a token
	// that the server did not take: then another one, or an error.
	Token(ctx context.Context, refused string) (string, error)
}

// streamable is a server behind Streamable HTTP: each message is a POST, whose
// answer is JSON or an event stream; a GET stream is kept open where the server
// has one.
type streamable struct {
	rt      http.RoundTripper
	server  config.HTTPServer
	auth    Authorizer // nil: no OAuth
	peer    *peer
	life    context.Context // of everything but the closing DELETE
	end     context.CancelFunc
	wg      sync.WaitGroup
	told    sync.Once
	removed chan struct{} // closed when the session was ended at the server, or that was given up

	// handshake makes a new session when the server has forgotten the old one.
	handshake func(context.Context) error
	renewing  chan struct{} // one place: who holds it renews

	mu     sync.Mutex
	live   state // what requests carry
	staged state // what the handshake under way has come to
}

// state is what a session's requests carry.
type state struct{ session, version string }

func newStreamable(s config.HTTPServer, rt http.RoundTripper, auth Authorizer, p *peer) *streamable {
	h := &streamable{rt: rt, server: s, auth: auth, peer: p, renewing: make(chan struct{}, 1), removed: make(chan struct{})}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// begin forgets what an earlier handshake that failed had come to.
func (h *streamable) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.staged = state{}
}

// negotiated ends the first half of a handshake.
func (h *streamable) negotiated(version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.staged.version = version
}

// publish lets all requests use the session of the handshake that has just ended.
func (h *streamable) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live, h.staged = h.staged, state{}
}

// carried is what a request takes along.
func (h *streamable) carried(starting bool) state {
	h.mu.Lock()
	defer h.mu.Unlock()
	if starting {
		return h.staged
	}
	return h.live
}

// send posts one message. For a request it returns when the answer was received,
// or is to come on the GET stream (202).
func (h *streamable) send(ctx context.Context, id int64, msg []byte) error {
	ctx, cancel := h.within(ctx)
	defer cancel()
	starting := isHandshake(msg)
	for again := false; ; again = true {
		with := h.carried(starting)
		err := h.exchange(ctx, id, msg, with, starting)
		if again || starting || !errors.Is(err, errSessionGone) {
			return err
		}
		// The server did not know the session, so it has not run the request.
		if err := h.renew(ctx, with.session); err != nil {
			return fmt.Errorf("start a new session: %w", err)
		}
	}
}

// within ends ctx with the connection as well.
func (h *streamable) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.life, func() { cancel(errClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// isHandshake looks at a message that request has built: the method is the first
// thing in it that can look like one.
func isHandshake(msg []byte) bool {
	_, rest, _ := bytes.Cut(msg, []byte(`"method":"`))
	return bytes.HasPrefix(rest, []byte(methodInitialize+`"`)) || bytes.HasPrefix(rest, []byte(methodInitialized+`"`))
}

// renew makes a new session in the place of a lost one; whoever comes second
// finds it made.
func (h *streamable) renew(ctx context.Context, lost string) error {
	select {
	case h.renewing <- struct{}{}:
		defer func() { <-h.renewing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if h.carried(false).session != lost {
		return nil
	}
	return h.handshake(ctx)
}

var (
	errSessionGone = errors.New("the server does not know the session any more")
	errNoStream    = errors.New("the server has no event stream")
	errUnreachable = errors.New("cannot be reached")
)

// exchange is one POST with its answer.
func (h *streamable) exchange(ctx context.Context, id int64, msg []byte, with state, starting bool) error {
	res, err := h.request(ctx, http.MethodPost, msg, with, "")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if starting {
		if err := h.adopt(res.Header.Get(headerSession)); err != nil {
			return err
		}
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case id == 0 || res.StatusCode == http.StatusAccepted:
		return nil // a notification has no answer; an accepted request gets it on the GET stream
	case kind == eventsType:
		return h.stream(ctx, res.Body, id)
	case kind == jsonType:
		return h.whole(res.Body, id)
	}
	return fmt.Errorf("%w: the answer is neither JSON nor an event stream", errProtocol)
}

// adopt takes the session that the server's answer to initialize names.
func (h *streamable) adopt(session string) error {
	if session == "" {
		return nil
	}
	if len(session) > maxSession || strings.IndexFunc(session, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return fmt.Errorf("%w: the session id is not visible ASCII", errProtocol)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.staged.session = session
	return nil
}

// whole receives a JSON answer.
func (h *streamable) whole(body io.Reader, id int64) error {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return readError(err)
	}
	if len(data) > maxAnswer {
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err := h.peer.receive(data); err != nil {
		return err
	}
	if h.peer.waits(id) {
		return fmt.Errorf("%w: the answer is for another request", errProtocol)
	}
	return nil
}

// request sends one HTTP request and judges its status. 401 is tried once more
// with a fresh token. The caller closes the body.
func (h *streamable) request(ctx context.Context, method string, body []byte, with state, lastEvent string) (*http.Response, error) {
	refused := ""
	for {
		token := ""
		if h.auth != nil {
			var err error
			if token, err = h.auth.Token(ctx, refused); err != nil {
				return nil, err
			}
		}
		req, err := h.build(ctx, method, body, with, lastEvent, token)
		if err != nil {
			return nil, err
		}
		res, err := h.rt.RoundTrip(req)
		if err != nil {
			return nil, h.dialError(ctx, err)
		}
		if res.StatusCode == http.StatusUnauthorized && h.auth != nil && refused == "" {
			res.Body.Close()
			refused = token
			continue
		}
		if err := h.judge(method, with, res); err != nil {
			res.Body.Close()
			return nil, err
		}
		return res, nil
	}
}

func (h *streamable) build(ctx context.Context, method string, body []byte, with state, lastEvent, token string) (*http.Request, error) {
	var src io.Reader
	if body != nil {
		src = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, h.server.URL, src)
	if err != nil {
		return nil, errors.New("the URL is not usable")
	}
	for k, v := range h.server.Headers {
		req.Header.Set(k, v)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	set := func(k, v string) {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	switch method {
	case http.MethodPost:
		set("Content-Type", jsonType)
		set("Accept", acceptBoth)
	case http.MethodGet:
		set("Accept", eventsType)
	}
	set(headerSession, with.session)
	set(headerVersion, with.version)
	set("Last-Event-ID", lastEvent)
	if token != "" {
		set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// judge accepts 2xx.
func (h *streamable) judge(method string, with state, res *http.Response) error {
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return errors.New("the server redirects, which is not followed")
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: the server asks for authorization", ErrLoginNeeded)
	case code == http.StatusForbidden && oauth.ParseChallenge(res.Header).Error == "insufficient_scope":
		return &ScopeError{Scopes: scopesOf(oauth.ParseChallenge(res.Header).Scope)}
	case code == http.StatusNotFound && with.session != "":
		return errSessionGone
	case code == http.StatusMethodNotAllowed && method == http.MethodGet:
		return errNoStream
	}
	return statusError(res)
}

// statusError names the status, and the message of a JSON-RPC error in the body.
func statusError(res *http.Response) error {
	text := fmt.Sprintf("the server answered with HTTP status %d", res.StatusCode)
	data, _ := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if msgs, err := split(data); err == nil && len(msgs) == 1 && msgs[0].fault != nil {
		if f := faultOf(msgs[0].fault); f.message != "" {
			text += ": " + f.message
		}
	}
	return errors.New(text)
}

// dialError keeps the URL out: it may hold a key in its query.
func (h *streamable) dialError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s %w: %s", ShownURL(h.server.URL), errUnreachable, shown(err.Error()))
}

func readError(err error) error {
	if errors.Is(err, errEventSize) {
		return err
	}
	return errors.New("the answer broke off")
}

// ShownURL is a URL without its query, fragment and credentials (tools.md 6.5).
func ShownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "the server"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// tell ends everything under way and begins to end the session, without waiting.
func (h *streamable) tell() {
	h.told.Do(func() {
		h.end()
		h.wg.Go(h.remove)
	})
}

// remove ends the session at the server, as well as it can.
func (h *streamable) remove() {
	defer close(h.removed)
	with := h.carried(false)
	if with.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteWait)
	defer cancel()
	token := ""
	if h.auth != nil {
		token, _ = h.auth.Token(ctx, "")
	}
	req, err := h.build(ctx, http.MethodDelete, nil, with, "", token)
	if err != nil {
		return
	}
	if res, err := h.rt.RoundTrip(req); err == nil {
		res.Body.Close()
	}
}

func (h *streamable) wait(ctx context.Context, step stepped) error {
	step("session_delete", telemetry.EventMCPSessionDelete)
	select {
	case <-h.removed:
		step("stream_join", telemetry.EventMCPStreamJoin)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan struct{})
	go func() { h.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		// detaches: what is left are requests whose contexts have ended.
		return context.Cause(ctx)
	}
}
