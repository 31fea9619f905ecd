package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"magicode/pkg/localagent"
)

// ErrClosed: the connection is over; Err tells why.
var ErrClosed = errors.New("the connection to the agent is closed")

// eventBuffer is how many events wait for the host before the reader waits for
// it in turn. A host that stops reading is seen by the child as a stalled pipe.
const eventBuffer = 1024

// Client is one connection.
type Client struct {
	w     io.WriteCloser
	trace func(sent bool, frame []byte)

	wmu sync.Mutex // held while a request is written; never together with mu for a write

	mu       sync.Mutex
	next     int
	waiting  map[string]chan Frame
	seq      uint64
	instance string
	err      error

	events chan Event
	done   chan struct{}
}

// New talks to a child over its two pipes. trace, if not nil, sees every frame
// in both directions, without LF; it must not call the client.
func New(r io.Reader, w io.WriteCloser, trace func(sent bool, frame []byte)) *Client {
	c := &Client{w: w, trace: trace, waiting: map[string]chan Frame{}, events: make(chan Event, eventBuffer), done: make(chan struct{})}
	go c.read(r)
	return c
}

// Events delivers run events in order. It is closed when the connection ends.
func (c *Client) Events() <-chan Event { return c.events }

// Done is closed when the child's output has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err tells why the connection ended: io.EOF for an orderly end.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) read(r io.Reader) {
	defer close(c.done)
	defer close(c.events)
	br := bufio.NewReaderSize(r, localagent.MaxFrameBytes+1)
	for {
		line, err := br.ReadSlice('\n')
		if err != nil {
			// An unterminated tail is no message: it is discarded.
			c.end(io.EOF)
			return
		}
		f, err := decode(line[:len(line)-1])
		if err == nil {
			err = c.accept(f)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// accept routes one frame.
func (c *Client) accept(f Frame) error {
	if c.trace != nil {
		c.trace(false, f.Raw)
	}
	if err := c.admit(f); err != nil {
		return err
	}
	if f.Type == "event" {
		ev, err := decodeEvent(f)
		if err == nil {
			c.events <- ev
		}
		return err
	}
	if f.ID == nil {
		return fmt.Errorf("the agent could not read a request: %w", f.Error)
	}
	c.mu.Lock()
	ch := c.waiting[*f.ID]
	delete(c.waiting, *f.ID)
	c.mu.Unlock()
	if ch == nil {
		return violation("a response to no request")
	}
	ch <- f
	return nil
}

// admit checks what ties frames to one child.
func (c *Client) admit(f Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.instance == "" {
		c.instance = f.InstanceID
	}
	if f.InstanceID != c.instance || f.InstanceID == "" {
		return violation("another instance id")
	}
	if f.Seq <= c.seq {
		return violation("seq %d after %d", f.Seq, c.seq)
	}
	c.seq = f.Seq
	return nil
}

func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for _, ch := range c.waiting {
		close(ch)
	}
	c.waiting = map[string]chan Frame{}
}

// Call sends one request and waits for its response, which it decodes into
// result (nil: not decoded). The error is a *WireError, ErrClosed or ctx's.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	ch, err := c.send(method, params)
	if err != nil {
		return err
	}
	select {
	case f, ok := <-ch:
		switch {
		case !ok:
			return fmt.Errorf("%w: %v", ErrClosed, c.Err())
		case f.Error != nil:
			return f.Error
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(f.Result, result); err != nil {
			return violation("a result of another shape for %s", method)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type request struct {
	Protocol string `json:"protocol"`
	Version  int    `json:"version"`
	ID       string `json:"id"`
	Method   string `json:"method"`
	Params   any    `json:"params"`
}

// send registers a request and writes it. Requests go out in the order of their
// ids; a child whose input pipe is full holds up senders, never the reader.
func (c *Client) send(method string, params any) (chan Frame, error) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	id, ch, err := c.register()
	if err != nil {
		return nil, err
	}
	line, err := encode(id, method, params)
	if err == nil {
		if c.trace != nil {
			c.trace(true, line)
		}
		if _, werr := c.w.Write(append(line, '\n')); werr != nil {
			err = fmt.Errorf("%w: %v", ErrClosed, werr)
		}
	}
	if err != nil {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return nil, err
	}
	return ch, nil
}

func (c *Client) register() (string, chan Frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", nil, fmt.Errorf("%w: %v", ErrClosed, c.err)
	}
	c.next++
	id, ch := "c"+strconv.Itoa(c.next), make(chan Frame, 1)
	c.waiting[id] = ch
	return id, ch, nil
}

func encode(id, method string, params any) ([]byte, error) {
	line, err := json.Marshal(request{localagent.Name, localagent.Version, id, method, params})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %v", method, err)
	}
	if len(line) > localagent.MaxFrameBytes {
		return nil, fmt.Errorf("a request of %d bytes is over the bound of %d", len(line), localagent.MaxFrameBytes)
	}
	return line, nil
}

// CloseInput ends the child's input: it cancels what runs and exits by itself.
func (c *Client) CloseInput() error { return c.w.Close() }
