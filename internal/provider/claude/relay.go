package claude

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"magicode/internal/provider"
)

// Bounds of the relay: providers.md 15.
const (
	maxRelayHeader   = 32 << 10
	maxRelayBody     = 8 << 20
	maxRelayResponse = 16 << 20
	relayReadTimeout = 30 * time.Second
	relayDrain       = 2 * time.Second
)

const upstreamURL = "https://api.anthropic.com/v1/messages"

// consumed answers every request behind the first one.
const consumed = `{"type":"error","error":{"type":"invalid_request_error","message":"MODEL_ADMISSION_CONSUMED"}}`

// relay passes one model request of one command on, with our own messages in
// it, and keeps a copy of the answer. It holds no credentials beyond the
// request that carries them.
type relay struct {
	http     http.RoundTripper
	upstream *url.URL
	messages []message
	path     string
	base     string // for ANTHROPIC_BASE_URL

	server   *http.Server
	served   chan struct{}
	handlers sync.WaitGroup

	mu       sync.Mutex
	admitted bool
	again    bool  // a second request came
	status   int   // of the model's answer; 0: none came
	failure  error // why the answer is not whole
	answer   []byte
}

// newRelay listens on a loopback port. Close ends it.
func newRelay(ctx context.Context, rt http.RoundTripper, upstream, id string, messages []message) (*relay, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, refused("the address of Claude is wrong")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, failed(provider.ErrTransport, "no loopback port is to be had for the claude command")
	}
	r := &relay{http: rt, upstream: u, messages: messages, served: make(chan struct{})}
	r.path = "/admit/" + id + "/v1/messages"
	r.base = "http://" + l.Addr().String() + "/admit/" + id
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.serve), MaxHeaderBytes: maxRelayHeader, ReadHeaderTimeout: relayReadTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(l)
	}()
	return r, nil
}

// close stops listening, lets an answer that is on its way end for a moment,
// and waits for everything. It may be called twice.
func (r *relay) close() {
	ctx, cancel := context.WithTimeout(context.Background(), relayDrain)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	<-r.served
	r.handlers.Wait()
}

func (r *relay) serve(w http.ResponseWriter, req *http.Request) {
	r.handlers.Add(1)
	defer r.handlers.Done()
	switch {
	case req.URL.Path != r.path || req.Method != http.MethodPost:
		http.NotFound(w, req)
	case req.Header.Get("Origin") != "": // a web page has no business here
		http.Error(w, "refused", http.StatusForbidden)
	case len(req.TransferEncoding) > 0 || req.ContentLength < 0:
		http.Error(w, "a length is required", http.StatusLengthRequired)
	case req.ContentLength > maxRelayBody:
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	case !r.admit():
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, consumed)
	default:
		r.forward(w, req)
	}
}

// admit lets one request pass.
func (r *relay) admit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admitted {
		r.again = true
		return false
	}
	r.admitted = true
	return true
}

var errAnswerTooLarge = errors.New("the model's answer is too large")

func (r *relay) forward(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		r.fail(err)
		return
	}
	raw = rewrite(raw, r.messages)
	out, err := http.NewRequestWithContext(req.Context(), http.MethodPost, r.target(req), strings.NewReader(string(raw)))
	if err != nil {
		r.fail(err)
		http.Error(w, "refused", http.StatusBadRequest)
		return
	}
	out.Header = forwarded(req.Header)
	out.Header.Set("Accept-Encoding", "identity") // the answer is read on its way
	resp, err := r.http.RoundTrip(out)
	if err != nil {
		r.fail(err)
		http.Error(w, "unreachable", http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	r.mu.Lock()
	r.status = resp.StatusCode
	r.mu.Unlock()
	h := w.Header()
	for k, v := range forwarded(resp.Header) {
		h[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	r.fail(r.pass(w, resp.Body))
}

// target is the model's address with the query of the command.
func (r *relay) target(req *http.Request) string {
	u := *r.upstream
	u.RawQuery = req.URL.RawQuery
	return u.String()
}

// pass streams the answer back and keeps it.
func (r *relay) pass(w http.ResponseWriter, body io.Reader) error {
	rc := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if !r.keep(buf[:n]) {
				return errAnswerTooLarge
			}
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
			if werr := rc.Flush(); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *relay) keep(p []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answer)+len(p) > maxRelayResponse {
		return false
	}
	r.answer = append(r.answer, p...)
	return true
}

func (r *relay) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.failure == nil {
		r.failure = err
	}
}

// forwarded copies headers without those of one connection.
func forwarded(h http.Header) http.Header {
	out := h.Clone()
	for _, list := range h.Values("Connection") {
		for _, name := range strings.Split(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for name := range out {
		switch lower := strings.ToLower(name); {
		case lower == "host", lower == "connection", lower == "content-length", lower == "transfer-encoding", lower == "keep-alive",
			lower == "te", lower == "trailer", lower == "upgrade", strings.HasPrefix(lower, "proxy-"):
			delete(out, name)
		}
	}
	return out
}
