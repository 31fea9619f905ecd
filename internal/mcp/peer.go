package mcp

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"magicode/internal/jsonscan"
)

// transport moves whole messages to a server. What comes back is handed to
// peer.receive, from any goroutine.
type transport interface {
	// send delivers one message. For a request id is its number: over HTTP send
	// then returns when its answer has come, or will come another way. An error
	// fails the request, not the connection: whoever breaks the connection calls
	// peer.fail.
	send(ctx context.Context, id int64, msg []byte) error
	// tell asks the server to end and returns at once.
	tell()
	// wait waits until the server has ended and everything is released, or for
	// ctx, and tells step what it waits for. It is called after tell.
	wait(ctx context.Context, step stepped) error
}

const (
	// maxReplies bounds the answers to a server's own requests that wait to be
	// sent. A full queue drops further ones: a server that asks and does not read
	// gets no memory of ours.
	maxReplies = 16
	// replyWait bounds the sending of one of them, and of a cancellation.
	replyWait = 2 * time.Second
	// maxSilence is how many calls in a row may time out without any sign of life,
	// not even an answer to the pings between them, before the server counts as
	// gone.
	maxSilence = 3
)

// answer is what a request got.
type answer struct {
	result jsonscan.Value // its own copy
	err    error
}

// peer is the client's half of one connection. It is safe for concurrent use.
type peer struct {
	out     transport
	replies chan []byte
	life    context.Context // ends with the connection
	end     context.CancelCauseFunc
	wg      sync.WaitGroup

	heard   atomic.Uint64 // messages that came
	silence atomic.Int32  // requests without an answer since the last of them

	mu      sync.Mutex
	last    int64 // the last request's number
	pending map[int64]chan answer
	broken  error // set once
}

func newPeer() *peer {
	p := &peer{replies: make(chan []byte, maxReplies), pending: map[int64]chan answer{}}
	p.life, p.end = context.WithCancelCause(context.Background())
	return p
}

// start begins to answer the server's requests over out. close ends it.
func (p *peer) start(out transport) {
	p.out = out
	p.wg.Go(p.reply)
}

// close fails what is pending and waits for the peer's goroutines, which end
// soon once the transport was told to.
func (p *peer) close() {
	p.fail(errClosed)
	p.wg.Wait()
}

// fail ends the connection with a reason; the first one stays.
func (p *peer) fail(err error) {
	p.mu.Lock()
	if p.broken == nil {
		p.broken = err
	}
	pending := p.pending
	p.pending = map[int64]chan answer{}
	err = p.broken
	p.mu.Unlock()
	p.end(err)
	for _, ch := range pending {
		ch <- answer{err: err} // one place each, and nobody else sends: they were taken out
	}
}

// receive takes one message, or a batch, off the wire. An error means that the
// bytes are no JSON-RPC; the transport decides what that means.
func (p *peer) receive(data []byte) error {
	msgs, err := split(data)
	if err != nil {
		return err
	}
	p.heard.Add(1)
	p.silence.Store(0)
	for _, m := range msgs {
		switch {
		case m.method == "":
			p.answered(m)
		case !answerable(m.id): // a notification: progress, logs, changed lists are of no interest here
		case m.method == "ping":
			p.queue(emptyAnswer(m.id))
		default:
			p.queue(refusal(m.id))
		}
	}
	return nil
}

// answerable: a request has a string or a number for an id. One that is absurdly
// long is not repeated back.
func answerable(id jsonscan.Value) bool {
	return (id.Kind() == jsonscan.String || id.Kind() == jsonscan.Number) && len(id) <= 1024
}

// answered hands an answer to its request. One that nobody waits for (late, the
// second one, an id of another kind) is dropped.
func (p *peer) answered(m message) {
	id, ok := m.id.Int64()
	if !ok {
		return
	}
	p.mu.Lock()
	ch := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	switch {
	case ch == nil:
	case m.fault != nil:
		ch <- answer{err: faultOf(m.fault)}
	default:
		ch <- answer{result: bytes.Clone(m.result)}
	}
}

// waits reports whether the request is still without its answer.
func (p *peer) waits(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending[id] != nil
}

func (p *peer) queue(msg []byte) {
	select {
	case p.replies <- msg:
	default: // full: see maxReplies
	}
}

// reply sends queued answers until the connection ends.
func (p *peer) reply() {
	for {
		select {
		case <-p.life.Done():
			return
		case msg := <-p.replies:
			ctx, cancel := context.WithTimeout(p.life, replyWait)
			_ = p.out.send(ctx, 0, msg) // a server that does not take an answer has no right to it
			cancel()
		}
	}
}

// notify sends a notification.
func (p *peer) notify(ctx context.Context, method string, params []byte) error {
	return p.out.send(ctx, 0, request(0, method, params))
}

// call sends a request and waits for its answer, at most for limit. When ctx
// ends first, or time is up, the server is told so and a late answer is dropped;
// the connection stays (decision 45). The error is the context's cause,
// errTimeout, an *rpcError, or why the connection or the request failed.
func (p *peer) call(ctx context.Context, limit time.Duration, method string, params []byte) (jsonscan.Value, error) {
	id, ch, err := p.register()
	if err != nil {
		return nil, err
	}
	heard := p.heard.Load()
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	if err := p.out.send(limited, id, request(id, method, params)); err != nil {
		return nil, p.unsent(limited, id, method, heard, err)
	}
	select {
	case a := <-ch:
		return a.result, a.err
	case <-limited.Done():
	}
	return nil, p.late(limited, id, method, heard)
}

func (p *peer) register() (int64, chan answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return 0, nil, p.broken
	}
	p.last++
	ch := make(chan answer, 1) // written once: by the answer or by fail
	p.pending[p.last] = ch
	return p.last, ch, nil
}

// unsent is the error of a request that could not be sent or whose answer
// cannot come.
func (p *peer) unsent(ctx context.Context, id int64, method string, heard uint64, err error) error {
	if ctx.Err() != nil {
		return p.late(ctx, id, method, heard)
	}
	p.forget(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil { // says more than the failed write that followed from it
		return p.broken
	}
	return err
}

func (p *peer) forget(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
}

// late is the error of a request whose context has ended. A server that has let
// several of them pass without any message at all is given up.
func (p *peer) late(ctx context.Context, id int64, method string, heard uint64) error {
	cause := context.Cause(ctx)
	timeout := errors.Is(cause, errTimeout)
	p.abandon(id, method, timeout)
	if timeout && p.heard.Load() == heard && p.silence.Add(1) >= maxSilence {
		p.fail(errSilent)
	}
	return cause
}

var errSilent = errors.New("the server has stopped answering")

// abandon forgets a request and tells the server, which nobody waits for. The
// handshake itself cannot be cancelled (the protocol's own rule). After a
// timeout a ping asks for a sign of life.
func (p *peer) abandon(id int64, method string, ping bool) {
	p.forget(id)
	if method == methodInitialize {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return // close may be waiting already
	}
	p.wg.Go(func() {
		ctx, cancel := context.WithTimeout(p.life, replyWait)
		defer cancel()
		err := p.notify(ctx, "notifications/cancelled", []byte(`{"requestId":`+strconv.FormatInt(id, 10)+`}`))
		if err == nil && ping {
			p.ping(ctx)
		}
	})
}

// ping asks for a sign of life. Nobody waits for the answer: receive counts it.
func (p *peer) ping(ctx context.Context) {
	id, ch, err := p.register()
	if err != nil {
		return
	}
	defer p.forget(id)
	if p.out.send(ctx, id, request(id, "ping", nil)) != nil {
		return
	}
	select {
	case <-ch:
	case <-ctx.Done():
	}
}
