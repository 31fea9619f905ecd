package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"magicode/pkg/localagent"
)

// read is the reader goroutine. After a violation it goes on draining, so that
// a child that is ending is not held up by a full pipe.
func (c *Client) read(r io.Reader) {
	defer close(c.done)
	br := bufio.NewReaderSize(r, localagent.MaxFrameBytes+1)
	err := c.frames(br)
	c.end(err)
	close(c.events)
	_, _ = io.Copy(io.Discard, br)
}

func (c *Client) frames(br *bufio.Reader) error {
	for {
		line, err := br.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return violation("a frame of more than %d bytes", localagent.MaxFrameBytes)
		case errors.Is(err, io.EOF) && len(line) > 0:
			return io.ErrUnexpectedEOF // an unterminated tail is no message
		case err != nil:
			return err
		}
		line = line[:len(line)-1]
		f, err := decode(line)
		if c.trace != nil {
			c.trace(false, line)
		}
		if err == nil {
			err = c.accept(f)
		}
		if err != nil {
			return err
		}
	}
}

// accept routes one frame.
func (c *Client) accept(f Frame) error {
	if err := c.admit(f); err != nil {
		return err
	}
	if f.Type == typeEvent {
		return c.event(f)
	}
	if f.ID == nil {
		return fmt.Errorf("the agent could not read a request: %w", f.Error)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.waiting[*f.ID]
	if !ok {
		return violation("a response to no request")
	}
	delete(c.waiting, *f.ID)
	if p.method == localagent.MethodTurnStart && f.Error == nil {
		if err := c.started(p, f); err != nil {
			return err
		}
	}
	p.answer <- f // it has room for its one response
	return nil
}

// started notes the run that a turn.start response admits: its events follow.
// Holds mu.
func (c *Client) started(p pending, f Frame) error {
	var t turnStarted
	if err := decodeResult(f.Result, &t); err != nil {
		return err
	}
	if c.run != nil && !c.run.finished {
		return violation("a second run at once")
	}
	c.run = &admitted{session: p.session, id: t.RunID}
	return nil
}

// admit checks what ties frames to one child.
func (c *Client) admit(f Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case f.Seq <= c.seq, c.seq == 0 && f.Seq != 1:
		return violation("seq %d after %d", f.Seq, c.seq)
	case !validID(f.InstanceID):
		return violation("no instance id")
	case c.instance != "" && c.instance != f.InstanceID:
		return violation("another instance id")
	}
	c.instance, c.seq = f.InstanceID, f.Seq
	return nil
}

// event checks an event and hands it to the host.
func (c *Client) event(f Frame) error {
	ev, err := decodeEvent(f)
	if err != nil {
		return err
	}
	c.mu.Lock()
	err = c.run.check(ev)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case c.events <- ev:
		return nil
	default:
	}
	wait := time.NewTimer(EventWait)
	defer wait.Stop()
	select {
	case c.events <- ev:
		return nil
	case <-c.failed:
		return ErrClosed
	case <-wait.C:
		return ErrEventsUnread
	}
}

// result is a decoded result that can say what is wrong with it.
type result interface{ check() error }

// decodeResult decodes a result of the shape that its operation has.
func decodeResult(raw []byte, into any) error {
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, into) != nil {
		return violation("a result of another shape")
	}
	if r, ok := into.(result); ok {
		return r.check()
	}
	return nil
}
