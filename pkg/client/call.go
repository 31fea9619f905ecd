package client

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"magicode/pkg/localagent"
)

// Call sends one request and waits for its response, which it decodes into
// result (nil: not decoded). It ends with the response, the connection or ctx:
// without a deadline in ctx it waits as long as the child works. The error is a
// *WireError, ErrClosed (with the cause), ErrProtocol, or ctx's. After ctx's
// error of a request with effects its outcome is uncertain: it may have been
// admitted, and must not be sent again by itself.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	answer, err := c.send(ctx, method, params)
	if err != nil {
		return err
	}
	select {
	case f := <-answer:
		return c.answered(method, f, result)
	case <-c.failed:
	case <-ctx.Done():
		return ctx.Err()
	}
	select { // a response that came before the end counts
	case f := <-answer:
		return c.answered(method, f, result)
	default:
		return c.closedError()
	}
}

func (c *Client) closedError() error { return fmt.Errorf("%w: %w", ErrClosed, c.Err()) }

// answered decodes a response. A result of another shape is a violation like
// any other: the connection ends.
func (c *Client) answered(method string, f Frame, result any) error {
	if f.Error != nil {
		return f.Error
	}
	if result == nil {
		return nil
	}
	if err := decodeResult(f.Result, result); err != nil {
		err = fmt.Errorf("%s: %w", method, err)
		c.end(err)
		return err
	}
	return nil
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
func (c *Client) send(ctx context.Context, method string, params any) (chan Frame, error) {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-c.failed:
		return nil, c.closedError()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, answer, err := c.register(method, params)
	if err != nil {
		return nil, err
	}
	line, err := encode(id, method, params)
	if err != nil {
		c.forget(id)
		return nil, err
	}
	if c.trace != nil {
		c.trace(true, line)
	}
	if err := c.write(ctx, append(line, '\n')); err != nil {
		c.forget(id)
		return nil, err
	}
	return answer, nil
}

// write writes a whole request, or ends the connection.
func (c *Client) write(ctx context.Context, line []byte) error {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		grace := time.NewTimer(writeGrace)
		defer grace.Stop()
		select {
		case <-written:
		case <-grace.C:
			c.end(ErrInputStalled)
		}
	})
	_, err := c.w.Write(line)
	close(written)
	stop()
	if err == nil {
		return nil
	}
	if cause := c.Err(); cause != nil {
		return c.closedError()
	}
	// The child has closed its input: its last frames may still be on the way.
	return fmt.Errorf("%w: %v", ErrClosed, err)
}

func (c *Client) register(method string, params any) (string, chan Frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return "", nil, fmt.Errorf("%w: %w", ErrClosed, c.err)
	case c.next >= localagent.MaxRequests:
		return "", nil, ErrRequestLimit
	case len(c.waiting) >= localagent.MaxPendingFrames:
		return "", nil, ErrInFlight
	}
	c.next++
	id, answer := "c"+strconv.Itoa(c.next), make(chan Frame, 1)
	turn, _ := params.(turnParams)
	c.waiting[id] = pending{method: method, session: turn.SessionID, answer: answer}
	return id, answer, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
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
