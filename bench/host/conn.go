package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// ErrRefused is a response with an error.
var ErrRefused = errors.New("the request was refused")

// Conn is one connection. It is for one goroutine.
type Conn struct {
	in   io.Writer
	out  io.Reader
	buf  []byte
	from int // of the next line in buf
	to   int
	next int
	send []byte
}

// NewConn returns a connection that writes requests into in and reads from out.
func NewConn(in io.Writer, out io.Reader) *Conn {
	return &Conn{in: in, out: out, buf: make([]byte, 128<<10)}
}

// Line returns the next line without its end. It is good until the next call.
func (c *Conn) Line() ([]byte, error) {
	seen := c.from
	for {
		if i := bytes.IndexByte(c.buf[seen:c.to], '\n'); i >= 0 {
			line := c.buf[c.from : seen+i]
			c.from = seen + i + 1
			return line, nil
		}
		seen = c.to
		if c.from > 0 {
			seen -= c.from
			c.to = copy(c.buf, c.buf[c.from:c.to])
			c.from = 0
		}
		if c.to == len(c.buf) {
			return nil, errors.New("a line of more than 128 KiB")
		}
		n, err := c.out.Read(c.buf[c.to:])
		if c.to += n; n == 0 && err != nil {
			return nil, fmt.Errorf("the child closed its output: %w", err)
		}
	}
}

// Send writes a request and returns its id. params is a JSON object.
func (c *Conn) Send(method, params string) (id string, err error) {
	c.next++
	id = "bench-" + strconv.Itoa(c.next)
	c.send = append(c.send[:0], `{"protocol":"magi-code.local-agent","version":1,"id":"`...)
	c.send = append(append(c.send, id...), `","method":"`...)
	c.send = append(append(c.send, method...), `","params":`...)
	c.send = append(append(c.send, params...), "}\n"...)
	_, err = c.in.Write(c.send)
	return id, err
}

// Ask sends a request and returns its response; events before it are dropped.
func (c *Conn) Ask(method, params string) ([]byte, error) {
	id, err := c.Send(method, params)
	if err != nil {
		return nil, err
	}
	line, err := c.Await(`"` + id + `"`)
	if err == nil && refused(line) {
		return nil, fmt.Errorf("%s: %w: %s", method, ErrRefused, line)
	}
	return line, err
}

// Await returns the next line that holds mark; lines before it are dropped.
func (c *Conn) Await(mark string) ([]byte, error) {
	want := []byte(mark)
	for {
		line, err := c.Line()
		if err != nil || bytes.Contains(line, want) {
			return line, err
		}
	}
}

// Initialize asks for no capability.
func (c *Conn) Initialize() error {
	_, err := c.Ask("initialize", `{"required_capabilities":[]}`)
	return err
}

// Session is what an open or a create said.
type Session struct{ ID, Revision string }

// Create makes a session.
func (c *Conn) Create() (Session, error) { return session(c.Ask("session.create", `{}`)) }

// Open opens one.
func (c *Conn) Open(id string) (Session, error) {
	return session(c.Ask("session.open", `{"session_id":"`+id+`"}`))
}

func session(line []byte, err error) (Session, error) {
	return Session{Field(line, "session_id"), Field(line, "revision")}, err
}

// Turn runs a turn to its end and returns the number of deltas that came.
func (c *Conn) Turn(session string) (deltas int, err error) {
	if _, err := c.Send("turn.start", `{"session_id":"`+session+`","prompt":"go on"}`); err != nil {
		return 0, err
	}
	for {
		line, err := c.Line()
		switch {
		case err != nil:
			return deltas, err
		case bytes.Contains(line, []byte(`"message.delta"`)):
			deltas++
		case bytes.Contains(line, []byte(`"run.finished"`)):
			if !bytes.Contains(line, []byte(`"completed"`)) {
				return deltas, fmt.Errorf("the turn ended otherwise: %s", line)
			}
			return deltas, nil
		case refused(line):
			return deltas, fmt.Errorf("turn.start: %w: %s", ErrRefused, line)
		}
	}
}

// CancelledTurn starts a turn, cancels it at its first text, and returns the time
// from the request to cancel to the end of the run.
func (c *Conn) CancelledTurn(session string) (time.Duration, error) {
	if _, err := c.Send("turn.start", `{"session_id":"`+session+`","prompt":"go on"}`); err != nil {
		return 0, err
	}
	line, err := c.Await(`"message.delta"`)
	if err != nil {
		return 0, err
	}
	run, from := Field(line, "run_id"), time.Now()
	if _, err := c.Send("turn.cancel", `{"session_id":"`+session+`","run_id":"`+run+`"}`); err != nil {
		return 0, err
	}
	line, err = c.Await(`"run.finished"`)
	took := time.Since(from)
	if err == nil && !bytes.Contains(line, []byte(`"cancelled"`)) {
		err = fmt.Errorf("the turn ended otherwise: %s", line)
	}
	return took, err
}

// Field returns a string member of a frame, "" without one. It looks for the
// name only: right for ids and revisions, which hold no escapes.
func Field(line []byte, name string) string {
	_, rest, ok := bytes.Cut(line, []byte(`"`+name+`":"`))
	if !ok {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}

func refused(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"error":{`)) }
