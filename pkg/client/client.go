package client

import (
	"errors"
	"io"
	"sync"
	"time"

	"magicode/pkg/localagent"
)

// Errors that end a connection, or a call on one that has ended.
var (
	// ErrClosed: the connection is over; Err tells why.
	ErrClosed = errors.New("the connection to the agent is closed")
	// ErrProtocol: the child sent something that version 1 does not allow.
	ErrProtocol = errors.New("protocol violation")
	// ErrEventsUnread: the host has not taken an event for EventWait while the
	// buffer was full.
	ErrEventsUnread = errors.New("the host does not read the agent's events")
	// ErrInputStalled: the child did not take a request while its caller waited.
	ErrInputStalled = errors.New("the agent does not read its input")
	// ErrRequestLimit: a child retains 4,096 request ids; a further request
	// would end it (protocol, "Bounds").
	ErrRequestLimit = errors.New("this child has answered as many requests as it can; start another one")
	// ErrInFlight: 32 requests wait for their responses (protocol, "Bounds":
	// the caller bounds its requests in flight).
	ErrInFlight = errors.New("too many requests wait for a response")
)

const (
	// eventBuffer is how many events wait for the host before the reader waits
	// for it in turn; meanwhile responses wait too.
	eventBuffer = 1024
	// EventWait is how long a full buffer waits for a host that reads no events
	// before the connection ends with ErrEventsUnread.
	EventWait = 10 * time.Second
	// writeGrace is how long a request whose caller has given up may still take
	// to be written whole: half a frame cannot be taken back.
	writeGrace = time.Second
)

// Client is one connection.
type Client struct {
	w     io.WriteCloser
	trace func(sent bool, frame []byte)

	writing   chan struct{} // holds one token; who has it writes a request
	closeOnce sync.Once
	closeErr  error

	mu       sync.Mutex
	next     int
	waiting  map[string]pending
	seq      uint64
	instance string
	run      *admitted // the latest run that turn.start admitted
	err      error

	events chan Event
	failed chan struct{} // closed with err
	done   chan struct{}
}

// pending is a request without its response.
type pending struct {
	method  string
	session string // of a turn.start
	answer  chan Frame
}

// New talks to a child over its two pipes. The one goroutine it starts ends
// when r does. trace, if not nil, sees every frame in both directions, without
// its LF; it may be called from several goroutines, must not keep the bytes and
// must not call the client.
func New(r io.Reader, w io.WriteCloser, trace func(sent bool, frame []byte)) *Client {
	c := &Client{
		w: w, trace: trace, writing: make(chan struct{}, 1), waiting: map[string]pending{},
		events: make(chan Event, eventBuffer), // full: wait EventWait, then end the connection
		failed: make(chan struct{}), done: make(chan struct{}),
	}
	go c.read(r)
	return c
}

// Events delivers run events in order. A host reads it all the time: once 1,024
// events wait, responses wait behind them, and after EventWait the connection
// ends. It is closed when the connection ends.
func (c *Client) Events() <-chan Event { return c.events }

// Done is closed when the child's output has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err tells why the connection ended, nil while it has not: io.EOF after the
// child's last whole frame, io.ErrUnexpectedEOF when it ended within a frame
// (which is discarded), ErrProtocol, ErrEventsUnread, ErrInputStalled, or what
// reading failed with.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// CloseInput ends the child's input: it cancels what runs and exits by itself.
// It is safe to call twice.
func (c *Client) CloseInput() error {
	c.closeOnce.Do(func() { c.closeErr = c.w.Close() })
	return c.closeErr
}

// end ends the connection, once. Every call that waits returns, and the child
// loses its input, which ends it.
func (c *Client) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	close(c.failed)
	c.mu.Unlock()
	_ = c.CloseInput()
}

// admitted is a run between turn.start's response and run.finished.
type admitted struct {
	session, id string // session: "" when not known
	finished    bool
}

// check holds an event against the run that this connection admitted.
func (a *admitted) check(ev Event) error {
	switch {
	case a == nil || ev.RunID != a.id || a.session != "" && ev.SessionID != a.session:
		return violation("an event of no admitted run")
	case a.finished:
		return violation("an event after run.finished")
	}
	a.finished = ev.Name == localagent.EventRunFinished
	return nil
}
