package loopback

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Random is 43 characters of 256 random bits, for a state or a PKCE verifier.
func Random() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Challenge is the S256 challenge of a PKCE verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Options say where a callback listens and which answer it takes.
type Options struct {
	Ports []int  // tried in this order; empty or 0: any free one
	Host  string // of the redirect; 127.0.0.1 when empty
	Path  string // of the redirect
	// Refused judges a redirect that carries our state: an error ends the login.
	// nil refuses nothing. A redirect without a code is refused after it.
	Refused func(q url.Values) error
}

// ErrNoPort: every port that the login may come back to is taken.
var ErrNoPort = errors.New("the callback's port is not free")

// Callback is the listener of one login. Close ends it.
type Callback struct {
	redirect string
	state    string
	path     string
	refused  func(url.Values) error
	server   *http.Server
	done     chan struct{} // closed when the server has ended
	result   chan outcome  // one place; the first counts
}

type outcome struct {
	code string
	err  error
}

// Listen opens the listener. It is reachable from this machine only.
func Listen(o Options) (*Callback, error) {
	ports := o.Ports
	if len(ports) == 0 {
		ports = []int{0}
	}
	var l net.Listener
	var err error
	for _, port := range ports {
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			break
		}
	}
	if err != nil {
		return nil, ErrNoPort
	}
	host := l.Addr().String()
	if o.Host != "" {
		host = net.JoinHostPort(o.Host, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	c := &Callback{
		redirect: "http://" + host + o.Path, state: Random(), path: o.Path, refused: o.Refused,
		done: make(chan struct{}), result: make(chan outcome, 1),
	}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { defer close(c.done); _ = c.server.Serve(l) }()
	return c, nil
}

// Redirect is the address that the browser comes back to.
func (c *Callback) Redirect() string { return c.redirect }

// State has to stand in the address that is shown to the user.
func (c *Callback) State() string { return c.state }

// ServeHTTP takes the one redirect that carries our state.
func (c *Callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	q := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != c.path || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) == 0 {
		http.Error(w, "This is not the login that magi-code waits for.", http.StatusBadRequest)
		return
	}
	out := outcome{code: q.Get("code")}
	if c.refused != nil {
		out.err = c.refused(q)
	}
	if out.err == nil && out.code == "" {
		out.err = errors.New("the authorization server sent no code")
	}
	select {
	case c.result <- out:
	default: // answered already
	}
	if out.err != nil {
		fmt.Fprintln(w, "The login failed. You can close this window; the terminal says why.")
		return
	}
	fmt.Fprintln(w, "magi-code has your answer. You can close this window; the terminal says the rest.")
}

// Wait returns the code of the redirect. The error is that of a refusal, or the
// context's cause.
func (c *Callback) Wait(ctx context.Context) (code string, err error) {
	select {
	case o := <-c.result:
		return o.code, o.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Close lets the last page be delivered, at most for a second, and ends the
// listener. Call it once.
func (c *Callback) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	<-c.done
}
