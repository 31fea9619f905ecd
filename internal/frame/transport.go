package frame

import (
	"errors"
	"io"
	"time"
)

// Errors of a transport.
var (
	// ErrWouldBlock: TryWrite found no room. Nothing is wrong.
	ErrWouldBlock = errors.New("transport: would block")
	// ErrOutputGone: nobody will ever read the output. Read returns it too, so
	// that a reader that goes away ends an idle child.
	ErrOutputGone = errors.New("transport: output has no reader")
	// ErrClosed: the transport was closed.
	ErrClosed = errors.New("transport: closed")
	// ErrEndpoint: a descriptor is no pipe (protocol, "Invocation").
	ErrEndpoint = errors.New("transport: not a pipe")
	// ErrUnsupported: this system has no transport.
	ErrUnsupported = errors.New("serve needs inherited pipes, which this system does not offer here; use Linux or macOS")
)

// Transport carries frames: the two inherited pipes, or a net.Pipe in tests.
// Read is called by one goroutine at a time, and so is Write; the two may
// overlap with each other, with SetWriteDeadline and with Close.
type Transport interface {
	io.Reader
	// Write returns after all of p was accepted, or with an error that wraps
	// os.ErrDeadlineExceeded after the write deadline, and says how much was.
	io.Writer
	SetWriteDeadline(t time.Time) error
	// Close ends pending and later calls. It is safe twice.
	Close() error
}

// TryWriter is what a transport offers that can tell at once whether there is
// room: it saves the hop to a writer goroutine (decision 39).
type TryWriter interface {
	// TryWrite writes what fits without waiting. A part may be accepted without
	// an error; with ErrWouldBlock nothing was. It does not overlap with Write.
	TryWrite(p []byte) (n int, err error)
}
