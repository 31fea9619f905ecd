//go:build unix

package fdio

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// Conn returns a connection that reads with Read. It waits as before, in the
// runtime's poller, and keeps deadlines and Close. Anything but a TCP
// connection comes back as it is.
func Conn(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	q := &conn{TCPConn: tcp, raw: raw}
	q.look = q.try
	return q
}

type conn struct {
	*net.TCPConn
	raw syscall.RawConn

	mu   sync.Mutex // of one Read
	look func(fd uintptr) bool
	p    []byte
	n    int
	err  error
}

// Read reads what is there, or waits for it. The errors are those of a
// net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Read(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p, c.n, c.err = p, 0, nil
	err := c.raw.Read(c.look)
	c.p = nil
	switch {
	case err != nil: // closed, or the deadline: an error of package net
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			op.Op = "read" // it says raw-read, and users see the text
		}
		return 0, err
	case c.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", c.err)}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// try reads once; false: there is nothing yet.
func (c *conn) try(fd uintptr) bool {
	for {
		n, err := Read(fd, c.p)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		c.n, c.err = n, err
		return true
	}
}
