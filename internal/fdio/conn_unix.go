//go:build unix

package fdio

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
)

// Conn returns a connection that reads with a Reader. It keeps deadlines and
// Close. Anything but a TCP connection comes back as it is.
func Conn(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{TCPConn: tcp, in: NewReader(raw, false)}
}

// copyBytes is what package io copies at a time.
const copyBytes = 32 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBytes]byte) }}

type conn struct {
	*net.TCPConn

	mu sync.Mutex // of one Read
	in *Reader
}

// ReadFrom writes all of r, as net/http does with the body of a request. That of a
// TCPConn makes a buffer each time, because a body is no file that the kernel
// could send.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	buf := copyBuffers.Get().(*[copyBytes]byte)
	defer copyBuffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c.TCPConn}, r, buf[:])
}

// Read reads what is there, or waits for it. The errors are those of a
// net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Read(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.in.Read(p)
	if err == nil {
		return n, nil
	}
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: call}
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		op.Op = "read" // it says raw-read, and users see the text
	}
	return 0, err
}
